import { json } from './http/answer.ts';
import { get, type Row } from './http/route.ts';

/** The addresses of the contracts on the configured chain, null for those that are not there. */
export const contractRoutes: readonly Row[] = [
  get('/api/contracts', {
    handler({ vault: { config } }) {
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
