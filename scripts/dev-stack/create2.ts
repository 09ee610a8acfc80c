import type { Address, Hex } from 'ox';
import { create2 as plan } from '../../lib/chain/deployment.ts';
import type { ChainRpc } from './chain.ts';
import { devAccount, sendTransaction } from './wallet.ts';

/** Runs creation code at its CREATE2 address (EIP-1014), unless that address has code already. */
export async function create2(rpc: ChainRpc, code: Hex.Hex, salt?: Hex.Hex): Promise<Address.Address> {
  const { address, call } = plan(code, salt);
  if (await isDeployed(rpc, address)) return address;
  await sendTransaction(rpc, devAccount('owner').privateKey, call);
  if (await isDeployed(rpc, address)) return address;
  throw new Error(`No code at ${address} after its deployment`);
}

/** Whether there is code at an address. */
export async function isDeployed(rpc: ChainRpc, address: Address.Address): Promise<boolean> {
  return (await rpc('eth_getCode', [address, 'latest'])) !== '0x';
}
