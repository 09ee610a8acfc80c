/** A registry's answers about aliases and DIDs (completions section 9). Registries of others may lack a function. */
import * as AbiParameters from 'ox/AbiParameters';
import { once } from '../base/once.ts';
import { addressWord, toQuantity, tryCall, ZERO_WORD } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';

/** A registry on its chain, and the block whose state is read; the newest one if absent. */
export interface RegistryAt extends ChainReader {
  readonly registry: string;
  readonly block?: number;
}

/** A registration as `resolve` and `resolveAlias` answer it; its controller is lower-case. */
export interface DidEntry {
  readonly controller: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly updated: number;
  readonly metadataCid: string;
  readonly active: boolean;
  /** The answer's bytes: those of one DID by its alias and by its hash are equal. */
  readonly bytes: string;
}

/** The value; null where the registry answers that there is none; undefined where it does not answer. */
export type RegistryAnswer<T> = T | null | undefined;

/** The DID hash an alias leads to, by `aliases(bytes32)`. Throws 502 `rpc_error` when the node cannot be asked. */
export async function readAlias(at: RegistryAt, aliasHash: string): Promise<RegistryAnswer<string>> {
  return readWord(at, `${ALIASES}${aliasHash.slice(2)}`);
}

/** The registration behind an alias, by `resolveAlias(bytes32)`. Throws as `readAlias`. */
export function readAliasEntry(at: RegistryAt, aliasHash: string): Promise<RegistryAnswer<DidEntry>> {
  return readEntry(at, `${RESOLVE_ALIAS}${aliasHash.slice(2)}`);
}

/** The registration of a DID, by `resolve(bytes32)`. Throws as `readAlias`. */
export function readDidEntry(at: RegistryAt, didHash: string): Promise<RegistryAnswer<DidEntry>> {
  return readEntry(at, `${RESOLVE}${didHash.slice(2)}`);
}

/** The DID hash last registered for a controller, by `controllerToDid(address)`. Throws as `readAlias`. */
export function readControllerDid(at: RegistryAt, controller: string): Promise<RegistryAnswer<string>> {
  return readWord(at, `${CONTROLLER_TO_DID}${addressWord(controller)}`);
}

/** Until when an older claim may take an alias, in seconds; only the second registry says so. Throws as `readAlias`. */
export async function readSettledAt(at: RegistryAt, aliasHash: string): Promise<number | undefined> {
  const bytes = await callView(at, `${ALIAS_STATUS}${aliasHash.slice(2)}`);
  return bytes.length === 2 + 4 * 64 ? Number(BigInt(`0x${bytes.slice(66, 130)}`)) : undefined;
}

/** Whether a did:pkh is held by the address it names, or was moved on by it; false of a first registry. */
export async function readIsRightful(at: RegistryAt, didHash: string): Promise<boolean> {
  return (await findIsRightful(at, didHash)) === true;
}

/** The same; undefined where the registry does not say. Throws as `readAlias`. */
export async function findIsRightful(at: RegistryAt, didHash: string): Promise<boolean | undefined> {
  const word = await readWord(at, `${IS_RIGHTFUL}${didHash.slice(2)}`);
  return word === undefined ? undefined : word !== null && BigInt(word) === 1n;
}

const ALIAS_STATUS = '0x4713ed76';
const IS_RIGHTFUL = '0x70aacb59';
const ALIASES = '0xe7511873';
const RESOLVE_ALIAS = '0x0c81e27a';
/** Selector of `resolve(bytes32)`. */
export const RESOLVE = '0x5c23bdf5';
const CONTROLLER_TO_DID = '0x004bdd8b';

const entry = once(() =>
  AbiParameters.from('address controller, uint256 created, uint256 updated, string metadataCid, bool active'),
);
const NOBODY = `0x${'0'.repeat(40)}`;

async function readWord(at: RegistryAt, data: string): Promise<RegistryAnswer<string>> {
  const bytes = await callView(at, data);
  if (bytes.length !== 66) return undefined;
  return bytes.slice(2) === ZERO_WORD ? null : bytes;
}

async function readEntry(at: RegistryAt, data: string): Promise<RegistryAnswer<DidEntry>> {
  const bytes = await callView(at, data);
  if (bytes === GAVE_A_REASON) return null;
  try {
    const [controller, created, updated, metadataCid, active] = AbiParameters.decode(entry(), bytes as `0x${string}`);
    if (controller === NOBODY) return null;
    const times = { created: Number(created), updated: Number(updated) };
    return { controller: controller.toLowerCase(), ...times, metadataCid, active, bytes };
  } catch {
    return undefined;
  }
}

/** The result of `callView` for a revert with a reason; a contract that lacks the function gives none. */
const GAVE_A_REASON = '';

/** The bytes of the answer, lower-case; `0x` for a revert without a reason. */
async function callView({ config, rpc, registry, block }: RegistryAt, data: string): Promise<string> {
  const tag = block === undefined ? 'latest' : toQuantity(block);
  const outcome = await tryCall(rpc, config.chainId, { to: registry, data }, tag);
  if ('answer' in outcome) return outcome.answer;
  return outcome.reverted.length > 2 ? GAVE_A_REASON : '0x';
}
