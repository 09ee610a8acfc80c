// ERC-4337's EntryPoints, byte for byte those of public networks:
// https://github.com/eth-infinitism/account-abstraction/releases
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Hex } from 'ox';
import { toolPath } from '../testing/tools.ts';
import type { ChainRpc } from './chain.ts';
import { create2 } from './create2.ts';

/** A release of the EntryPoint. */
export type EntryPointVersion = keyof typeof ENTRY_POINTS;

/** Their addresses, the same on every chain. */
export const ENTRY_POINTS = {
  '0.6': '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  '0.7': '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
  '0.8': '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108',
  '0.9': '0x433709009B8330FDa32311DF1C2AFA402eD8D009',
} as const;

/** The npm package that holds each release's creation code, and the salt that its authors deployed it with. */
const RELEASES = {
  '0.6': ['aa06', `0x${'0'.repeat(64)}`],
  '0.7': ['aa07', '0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3'],
  '0.8': ['@account-abstraction/contracts', '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9'],
} as const;

/** No package holds the creation code of 0.9; this one holds the deployed code of it and of its SenderCreator. */
const DEPLOYED_CODE = toolPath('hardhat-predeploy/bin');
const PLACED = [ENTRY_POINTS['0.9'], '0x0A630a99Df908A81115A3022927Be82f9299987e'];

/** Deploys the EntryPoints that are not there yet. Throws when one would not be at its known address. */
export async function deployEntryPoints(
  rpc: ChainRpc,
  versions: readonly EntryPointVersion[] = ['0.6', '0.7', '0.8'],
): Promise<void> {
  for (const version of versions) {
    if (version === '0.9') {
      await placeCode(rpc);
      continue;
    }
    const [name, salt] = RELEASES[version];
    const address = await create2(rpc, await creationCode(name), salt);
    if (address !== ENTRY_POINTS[version]) throw new Error(`EntryPoint ${version} is at ${address}`);
  }
}

async function creationCode(name: string): Promise<Hex.Hex> {
  const path = fileURLToPath(new URL(`../../node_modules/${name}/artifacts/EntryPoint.json`, import.meta.url));
  return JSON.parse(await readFile(path, 'utf8')).bytecode;
}

/** Puts 0.9 where it is on public networks by the node's own `anvil_setCode`. */
async function placeCode(rpc: ChainRpc): Promise<void> {
  for (const address of PLACED) {
    const code = await readFile(`${DEPLOYED_CODE}/${address}.bytecode`);
    await rpc('anvil_setCode', [address, `0x${code.toString('hex')}`]);
  }
}
