/** The index's answers by `eth_call`, where no follower has read the chain: without the block of an event. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { fromHex, toHex } from '../base/bytes.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { type Factories, factoryOf, formerFactoryOf } from '../chain/account-factory.ts';
import { readAccountKey } from '../chain/account-key.ts';
import { uint256Word } from '../chain/contract-call.ts';
import {
  type DidEntry,
  type RegistryAt,
  readAlias,
  readAliasEntry,
  readControllerDid,
  readDidEntry,
} from '../chain/registry-views.ts';
import type { ChainReader } from '../chain/rpc.ts';

/** The chain with the registry and the factories. */
export interface Chain extends ChainReader<'didRegistryAddress' | Factories> {
  readonly predict: PredictAddress;
}

const NOT_FOUND = { found: false } as const;

/** The DID of an alias; undefined where the registry does not answer. Throws 502 `rpc_error`, as do all here. */
export async function findAliasOnChain(chain: Chain, aliasHash: string) {
  const at = registryOf(chain);
  if (!at) return undefined;
  const didHash = await readAlias(at, aliasHash);
  if (didHash === null) return NOT_FOUND;
  if (didHash === undefined) return findEntryOfAlias(at, aliasHash);
  const entry = await readDidEntry(at, didHash);
  return entry === undefined ? undefined : aliasAnswer(aliasHash, didHash, entry);
}

/** A registered DID, by its hash; undefined where the registry does not answer. */
export async function findDidOnChain(chain: Chain, didHash: string) {
  const at = registryOf(chain);
  const entry = at && (await readDidEntry(at, didHash));
  if (!entry) return entry === null ? NOT_FOUND : undefined;
  const { controller, metadataCid, active } = entry;
  return { found: true, did_hash: didHash, controller, metadata_cid: metadataCid, active } as const;
}

/** An account of a factory, by its address; undefined where its code does not show the salt and 0 does not fit. */
export async function findAccountOnChain(chain: Chain, account: string) {
  const { config } = chain;
  if (config.hyperauthFactoryAddress === null && config.accountFactory2Address === null) return undefined;
  const found = await readAccountKey(chain, account);
  if (!found) return NOT_FOUND;
  const { key, kind, showsSalt } = found;
  if (factoryOf(config, kind) === null) return showsSalt ? NOT_FOUND : undefined;
  const isPresent = (await chain.predict(key, kind)).toLowerCase() === account;
  if (!isPresent && !(await formerFactoryOf(chain, account, found))) return showsSalt ? NOT_FOUND : undefined;
  const bytes = fromHex(`${uint256Word(key.x)}${uint256Word(key.y)}`) as Uint8Array;
  const owner = `0x${toHex(keccak_256(bytes).subarray(12))}`;
  return { found: true, account_address: account, owner_address: owner } as const;
}

function registryOf({ config, rpc }: Chain): RegistryAt | undefined {
  const { didRegistryAddress: registry } = config;
  return registry === null ? undefined : { config, rpc, registry };
}

/** A registry without `aliases` names no DID: that of the controller is the one, if its entry is the same. */
async function findEntryOfAlias(at: RegistryAt, aliasHash: string) {
  const entry = await readAliasEntry(at, aliasHash);
  if (!entry) return entry === null ? NOT_FOUND : undefined;
  const didHash = await readControllerDid(at, entry.controller);
  const own = didHash ? await readDidEntry(at, didHash) : undefined;
  return didHash && own?.bytes === entry.bytes ? aliasAnswer(aliasHash, didHash, entry) : undefined;
}

function aliasAnswer(aliasHash: string, didHash: string, entry: DidEntry | null) {
  const { active = false, controller = null } = entry ?? {};
  return { found: true, alias_hash: aliasHash, did_hash: didHash, active, controller } as const;
}
