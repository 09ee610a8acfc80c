import type { Deployment } from '../../scripts/dev-stack/deploy.ts';

/** The settings of a vault that reads Base Sepolia at this URL, where these contracts are. */
export function chainVars(url: string, contracts: Deployment): Record<string, string> {
  return {
    CHAIN_ID: '84532',
    RPC_URL: url,
    ENTRY_POINT_ADDRESS: contracts.entryPoint,
    DID_REGISTRY_ADDRESS: contracts.didRegistry,
    HYPERAUTH_FACTORY_ADDRESS: contracts.accountFactory,
    ACCOUNT_HELPER_ADDRESS: contracts.accountHelper,
    ACCOUNT_FACTORY_2_ADDRESS: contracts.accountFactory2,
  };
}
