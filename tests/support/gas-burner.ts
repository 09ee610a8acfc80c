import { AbiFunction, type Address, Hex } from 'ox';
import { create2 } from '../../lib/chain/deployment.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { callAs } from './second-account.ts';

/** The slot of ERC-1967. */
const SLOT = '360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const UPGRADE = AbiFunction.from('function upgradeToAndCall(address implementation, bytes data)');

/**
 * Code that a simulation without a price takes for a call of 880,000 gas, and that uses up whatever a transaction has.
 * It says of itself that it is an implementation (ERC-1822), so that accounts upgrade to it.
 */
const BURNER = Hex.concat(
  '0x5f3560e01c6352d1902d14602957', // proxiableUUID()? Then 0x29.
  '0x3a602757', // A price? Then 0x27.
  '0x62008436', // 33,846 turns of 26 gas
  '0x5b6001900380601657', // 0x16: one turn
  '0x00',
  Hex.padLeft('0x5bfe', 9), // 0x27: everything
  `0x5b7f${SLOT}5f5260205ff3`, // 0x29
);

/** Deploys such code. */
export async function deployBurner(rpc: ChainRpc): Promise<Address.Address> {
  const { address, call } = create2(Hex.concat('0x61', Hex.fromNumber(Hex.size(BURNER), { size: 2 }), COPY, BURNER));
  await sendTransaction(rpc, devAccount('bob').privateKey, call);
  return address;
}

/** Returns the code behind it, whose size is on the stack. */
const COPY = '0x80600a5f395ff3';

/** Puts an implementation under an account, as an operation of its owner does. */
export async function upgrade(rpc: ChainRpc, account: string, implementation: Address.Address): Promise<void> {
  await callAs(rpc, account, account, AbiFunction.encodeData(UPGRADE, [implementation, '0x']));
}
