import type { Address } from 'ox';
import creationCode from '../../contracts/creation-code.json' with { type: 'json' };
import { planDeployment } from '../../lib/chain/deployment.ts';
import type { ChainRpc } from './chain.ts';
import { isDeployed } from './create2.ts';
import { deployEntryPoints, ENTRY_POINTS } from './entrypoints.ts';
import { devAccount, sendTransaction } from './wallet.ts';

/** Where the vault's contracts are, and the EntryPoint that the accounts trust. */
export interface Deployment {
  readonly entryPoint: Address.Address;
  readonly didRegistry: Address.Address;
  readonly accountFactory: Address.Address;
  readonly accountHelper: Address.Address;
  /** The factory of accounts of the second kind. */
  readonly accountFactory2: Address.Address;
}

/**
 * Deploys what is not there yet. The addresses follow from the contracts' code and the local accounts alone, so every
 * local chain has the same.
 */
export async function deployContracts(
  rpc: ChainRpc,
  { entryPoint: version = '0.7', registry = 2 }: { entryPoint?: '0.7' | '0.8' | '0.9'; registry?: 1 | 2 } = {},
): Promise<Deployment> {
  await deployEntryPoints(rpc, [version]);
  const [entryPoint, owner] = [ENTRY_POINTS[version], devAccount('owner')];
  const parties = { entryPoint, owner: owner.address, registrar: devAccount('registrar').address, registry };
  const plan = planDeployment(creationCode, parties);
  for (const { address, call } of plan) {
    if (!(await isDeployed(rpc, address))) await sendTransaction(rpc, owner.privateKey, call);
  }
  const [{ address: didRegistry }, { address: accountFactory }, { address: accountHelper }, factory2] = plan;
  return { entryPoint, didRegistry, accountFactory, accountHelper, accountFactory2: factory2.address };
}
