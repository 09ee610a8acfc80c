import type { Config } from '../config/config.ts';
import { type Finding, fail, ok } from './finding.ts';
import type { ExaminedChain } from './host.ts';
import { checkRegistry } from './registry.ts';

/** The contracts that are set, by their settings. */
const CONTRACTS = {
  ENTRY_POINT_ADDRESS: (config: Config) => config.entryPointAddress,
  DID_REGISTRY_ADDRESS: (config: Config) => config.didRegistryAddress,
  ACCOUNT_HELPER_ADDRESS: (config: Config) => config.accountHelperAddress,
  SESSION_SBT_ADDRESS: (config: Config) => config.sessionSbtAddress,
  HYPERAUTH_FACTORY_ADDRESS: (config: Config) => config.hyperauthFactoryAddress,
  ACCOUNT_FACTORY_2_ADDRESS: (config: Config) => config.accountFactory2Address,
  USDC_ADDRESS: (config: Config) => config.usdcAddress,
};

/** The setting of a contract. */
export type ContractSetting = keyof typeof CONTRACTS;

interface Contract {
  readonly name: ContractSetting;
  readonly address: string;
}

/** The contracts that are set, but have no code on the chain. Throws 502 `rpc_error`. */
export async function missingContracts({ config, rpc }: ExaminedChain): Promise<readonly ContractSetting[]> {
  const codes = await Promise.all(
    contractsOf(config).map(({ address }) => rpc.call(config.chainId, 'eth_getCode', [address, 'latest'])),
  );
  return contractsOf(config).flatMap(({ name }, i) => (codes[i] === '0x' ? [name] : []));
}

/** Checks that the configured contracts exist. All that are missing are one finding, as they have one cause. */
export async function checkContracts(
  chain: ExaminedChain,
  missing: readonly ContractSetting[],
): Promise<readonly Finding[]> {
  const { config } = chain;
  const set = contractsOf(config);
  if (missing.length > 0) return [describeMissing(config, set, missing)];
  const there = ok('contracts', `${set.length} of ${Object.keys(CONTRACTS).length} set, all with code`);
  const { didRegistryAddress: registry } = config;
  return registry === null ? [there] : [there, ...(await checkRegistry(chain, registry))];
}

function describeMissing({ chainId }: Config, set: readonly Contract[], missing: readonly ContractSetting[]): Finding {
  const [first] = set.filter(({ name }) => missing.includes(name));
  if (missing.length === 1 && set.length > 1)
    return fail('contracts', `${first?.name}: there is no code at ${first?.address}`, `set it ${TO}`);
  const names = missing.join(', ');
  if (missing.length < set.length)
    return fail(
      'contracts',
      `there is no code at ${missing.length} of ${set.length} contracts: ${names}`,
      `set them ${TO}`,
    );
  return fail(
    'contracts',
    `none of the ${set.length} contracts is on chain ${chainId}: ${names}`,
    `set RPC_URL to a node of their chain, or them ${TO}`,
  );
}

const TO = 'to a deployed address (vault contracts deploy), or to none';

function contractsOf(config: Config): readonly Contract[] {
  return Object.entries(CONTRACTS).flatMap(([name, read]) => {
    const address = read(config);
    return address === null ? [] : [{ name: name as ContractSetting, address }];
  });
}
