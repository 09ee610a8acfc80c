import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** The addresses of the contracts on the configured chain, null for those that are not there. */
export const contractRoutes: readonly Route[] = [
  get('/api/contracts', {
    handler({ ctx: { config } }) {
      const contracts = {
        chainId: config.chainId,
        entryPoint: config.entryPointAddress,
        didRegistry: config.didRegistryAddress,
        accountHelper: config.accountHelperAddress,
        sessionSBT: config.sessionSbtAddress,
        hyperAuthFactory: config.hyperauthFactoryAddress,
      };
      return json(contracts, { headers: { 'cache-control': 'public, max-age=86400' } });
    },
  }),
];
