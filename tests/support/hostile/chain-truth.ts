import { AbiFunction, Address, type Hex } from 'ox';
import { didRegistryAbi } from '../../../contracts/abi.ts';
import { didHash } from '../../../lib/identity/did.ts';
import type { HostileWorld } from './world.ts';

const RESOLVE = AbiFunction.fromAbi(didRegistryAbi, 'resolve');

/** Who controls a DID for the chain; the zero address for nobody. */
export async function controllerOf({ chain, contracts }: HostileWorld, did: string): Promise<string> {
  const data = AbiFunction.encodeData(RESOLVE, [didHash(did)]);
  const answer = (await chain.rpc('eth_call', [{ to: contracts.didRegistry, data }, 'latest'])) as Hex.Hex;
  return Address.checksum(`0x${answer.slice(26, 66)}`);
}
