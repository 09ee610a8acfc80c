/** What the registry and an account show of a DID in one block. */
import * as Address from 'ox/Address';
import { rpcError } from '../base/error.ts';
import { keyInCode } from '../chain/account-key.ts';
import { readBlock } from '../chain/blocks.ts';
import { readCode, toQuantity } from '../chain/contract-call.ts';
import { readShownKeys } from '../chain/owner-keys.ts';
import type { RegistryVersion } from '../chain/registry-version.ts';
import { type DidEntry, findIsRightful, type RegistryAt, readDidEntry } from '../chain/registry-views.ts';
import { type ChainReader, rpcErrorOf } from '../chain/rpc.ts';
import { didHash, type NamedAccount } from '../identity/did.ts';
import { ResolutionError } from './fault.ts';
import type { ChosenBlock } from './versions.ts';

/** A DID that names an account by its text. */
export interface AskedDid extends NamedAccount {
  readonly did: string;
}

/** Where the DID is looked for. */
export interface DidPlace {
  readonly block: ChosenBlock;
  readonly registry: string;
  readonly edition: RegistryVersion;
}

/** The account that has a DID, and its entry in the registry if one counts. */
export interface DidState {
  readonly entry: (Pick<DidEntry, 'created' | 'updated' | 'active'> & { readonly text: string }) | null;
  /** Lower-case. */
  readonly controller: string;
  readonly code: string;
  /** Each 0x and x ‖ y in hex. */
  readonly keys: readonly string[];
}

/**
 * Reads the first entry that counts among the spellings of a DID, and the account of its controller. Throws
 * `ResolutionError` where the node has no state of the block, 502 `rpc_error`.
 */
export async function readDidState(chain: ChainReader, asked: AskedDid, place: DidPlace): Promise<DidState> {
  const { block, registry, edition } = place;
  const at = { ...chain, registry, block: block.number };
  const address = asked.address.toLowerCase();
  const [code, ...entries] = await withState(chain, block, address, () =>
    Promise.all([
      readCode(chain, registry, toQuantity(block.number)),
      ...spellingsOf(asked).map((text) => readSpelling(at, text, edition)),
    ]),
  );
  // Before the registry was there nobody had registered.
  const isThere = code !== '0x';
  if (!isThere && !block.isPinned) throw rpcError('there is no registry');
  const said = isThere ? entries : [];
  if (said.some(({ entry }) => entry === undefined)) throw rpcError('the registry does not say who controls the DID');
  const found = said.find(({ entry, isRightful }) => {
    if (!entry) return false;
    if (entry.controller === address) return true;
    if (asked.method === 'pkh' && isRightful === undefined) throw rpcError('the registry does not say who is rightful');
    return asked.method === 'pkh' && isRightful === true;
  });
  const { created = 0, updated = 0, active = true, controller = address } = found?.entry ?? {};
  const account = await readAccount(chain, controller, block);
  return { entry: found ? { text: found.text, created, updated, active } : null, controller, ...account };
}

/**
 * The texts under which the registry may have a DID, in the order in which they decide: each has a hash of its own, so
 * an ended did:pkh would be alive to who asks for it with other capitals.
 */
function spellingsOf({ did, method, address }: AskedDid): readonly string[] {
  if (method !== 'pkh') return [did];
  const start = did.slice(0, -address.length);
  const lower = address.toLowerCase();
  return [...new Set([did, start + Address.checksum(lower as Address.Address), start + lower])];
}

async function readSpelling(at: RegistryAt, text: string, edition: RegistryVersion) {
  const hash = didHash(text);
  const [entry, isRightful] = await Promise.all([
    readDidEntry(at, hash),
    edition === 1 ? false : findIsRightful(at, hash),
  ]);
  return { text, entry, isRightful };
}

async function readAccount(chain: ChainReader, account: string, block: ChosenBlock) {
  const tag = toQuantity(block.number);
  const [code, shown, again] = await withState(chain, block, account, () =>
    Promise.all([readCode(chain, account, tag), readShownKeys(chain, account, tag), readBlock(chain, block.number)]),
  );
  if (again?.hash !== block.hash) throw rpcError('the block was replaced while it was read');
  // Our own code always shows a key: none means that the node did not say.
  if (shown.keys.length === 0 && keyInCode(code)) throw rpcError('the account does not say its keys');
  return { code, keys: shown.keys };
}

/** Runs the reads; where they fail since the node has not kept the state of a past block, that is what it throws. */
async function withState<T>(
  chain: ChainReader,
  { isPinned, number }: ChosenBlock,
  account: string,
  reads: () => Promise<T>,
): Promise<T> {
  try {
    return await reads();
  } catch (failure) {
    if (!isPinned || !rpcErrorOf(failure)) throw failure;
    // A node that refuses this one too, such as at its limit, says nothing of the past.
    await readCode(chain, account);
    throw new ResolutionError('FEATURE_NOT_SUPPORTED', `The node has no state of block ${number} any more.`);
  }
}
