import { AbiFunction, type Address } from 'ox';
import { USDC_DOMAINS } from '../../client/usdc.ts';
import { compileWorld } from '../contracts.ts';
import type { ChainRpc } from './chain.ts';
import { devAccount, sendTransaction } from './wallet.ts';

/** USDC's address on Base Sepolia, which the vault knows. */
export const USDC: Address.Address = USDC_DOMAINS[84532].address;

/** Puts a USDC that anyone mints where the real one is. */
export async function placeUsdc(rpc: ChainRpc, address: Address.Address = USDC): Promise<void> {
  const { DevUSDC: artifact } = await compileWorld();
  if (!artifact) throw new Error('contracts/world/DevUSDC.sol is missing');
  await rpc('anvil_setCode', [address, artifact.deployedBytecode]);
}

/** Mints to an account; the amount is in millionths. */
export async function mintUsdc(rpc: ChainRpc, to: Address.Address, amount: bigint, address = USDC): Promise<void> {
  const data = AbiFunction.encodeData(MINT, [to, amount]);
  await sendTransaction(rpc, devAccount('owner').privateKey, { to: address, data });
}

const MINT = AbiFunction.from('function mint(address to, uint256 amount)');
