import * as Address from 'ox/Address';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** The contracts' addresses on the configured chain, null for those that are not there, and the registrar's DID. */
export const contractRoutes: readonly Route[] = [
  get('/api/contracts', {
    async handler({ ctx: { config, guardian } }) {
      const contracts = {
        chainId: config.chainId,
        entryPoint: config.entryPointAddress,
        didRegistry: config.didRegistryAddress,
        accountHelper: config.accountHelperAddress,
        sessionSBT: config.sessionSbtAddress,
        hyperAuthFactory: config.hyperauthFactoryAddress,
        accountFactory2: config.accountFactory2Address,
        registrar: config.registrarDid,
        guardian: guardian ? Address.checksum((await guardian.relay.address()) as Address.Address) : null,
      };
      return json(contracts, { headers: { 'cache-control': 'public, max-age=86400' } });
    },
  }),
];
