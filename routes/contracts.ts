import * as Address from 'ox/Address';
import { Contracts } from './answers/vault.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** The contracts' addresses on the configured chain, null for those that are not there, and the registrar's DID. */
export const contractRoutes = [
  get('/api/contracts', {
    summary: 'The contracts on the chain, and the DID of the registrar',
    answers: { 200: Contracts },
    errors: ['rpc_error'],
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
] as const satisfies readonly Route[];
