import { AbiConstructor, Address, ContractAddress, Hex } from 'ox';
import { didRegistryAbi } from '../../lib/chain/abi.ts';
import { compileContracts } from '../contracts.ts';
import type { ChainRpc } from './chain.ts';
import { devAccount, sendTransaction } from './wallet.ts';

/** Where the vault's contracts are. */
export interface Deployment {
  readonly didRegistry: Address.Address;
}

/** https://github.com/Arachnid/deterministic-deployment-proxy, the same on every chain. */
const DEPLOYER = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const SALT = Hex.fromNumber(0, { size: 32 });

/** Deploys what is not there yet. The addresses follow from the contracts' code and the local accounts alone, so every local chain has the same. */
export async function deployContracts(rpc: ChainRpc): Promise<Deployment> {
  const { DIDRegistry: registry } = await compileContracts();
  if (!registry) throw new Error('contracts/DIDRegistry.sol is missing');
  const args = [devAccount('owner').address, devAccount('registrar').address] as const;
  const code = AbiConstructor.encode(didRegistryAbi, { bytecode: registry.bytecode, args });
  return { didRegistry: await create2(rpc, code) };
}

/** Runs creation code at its CREATE2 address (EIP-1014, zero salt), unless that address has code already. */
export async function create2(rpc: ChainRpc, bytecode: Hex.Hex, salt: Hex.Hex = SALT): Promise<Address.Address> {
  const address = Address.checksum(ContractAddress.fromCreate2({ from: DEPLOYER, salt: Hex.toBytes(salt), bytecode }));
  if (await isDeployed(rpc, address)) return address;
  await sendTransaction(rpc, devAccount('owner').privateKey, { to: DEPLOYER, data: Hex.concat(salt, bytecode) });
  if (await isDeployed(rpc, address)) return address;
  throw new Error(`No code at ${address} after its deployment`);
}

async function isDeployed(rpc: ChainRpc, address: Address.Address): Promise<boolean> {
  return (await rpc('eth_getCode', [address, 'latest'])) !== '0x';
}
