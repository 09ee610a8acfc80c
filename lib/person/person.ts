import { badRequest } from '../base/error.ts';
import { aliasHash, didHash, isDid } from '../identity/did.ts';
import { erasureDigest } from '../identity/erasure.ts';
import { type Channel, maskIdentifier, parseNamedIdentifier } from '../identity/identifier.ts';
import { LIMITS } from '../limits/catalogue.ts';
import type { Platform } from '../platform.ts';
import {
  type PersonArgs,
  type PersonLink,
  REGISTRATIONS_READ_MAX,
  selectLinksOf,
  selectLinksOfDids,
  toLink,
} from './store.ts';

/** The identifiers, DIDs and accounts of one person, as far as the vault can know. */
export interface Person {
  /** Keys of identifiers (`channel:value`): the one that was asked for, and those proven for the same DID. */
  readonly identifiers: readonly string[];
  readonly dids: readonly string[];
  /** Controllers of the DIDs, lower-case. */
  readonly accounts: readonly string[];
  /** Registrations of a DID without a proof, which are not taken for the person's. */
  readonly unproven: number;
}

/** Identifiers and DIDs of one person. */
const LINKS_MAX = 50;

/** Chains whose rows may be stored. */
const CHAINS = [84532, 8453];

type Ctx = Pick<Platform, 'config' | 'db'>;

/**
 * Finds a person by an email address, a phone number, a handle or a DID. From identifier to DID and back only
 * registrations lead that the DID's controller signed for: anybody can name another's DID with an address of their own,
 * and must not get, or erase, the other's data. Throws 400 for anything else.
 */
export async function findPerson({ db }: Pick<Ctx, 'db'>, text: string): Promise<Person> {
  const asked = text.trim();
  const isOfDid = asked.startsWith('did:');
  if (isOfDid && !isDid(asked)) throw badRequest('Invalid identifier', 'It begins like a DID but is not one.');
  const identifiers = new Set(isOfDid ? [] : [parseNamedIdentifier(asked).key]);
  const dids = new Set(isOfDid ? [asked] : []);
  const found = new Map<string, PersonLink>();
  let unproven = 0;
  for (let size = -1; size !== identifiers.size + dids.size; ) {
    size = identifiers.size + dids.size;
    if (size > LINKS_MAX) throw badRequest('Too many identifiers', 'Ask for one of its DIDs or addresses.');
    const own = await read(db, selectLinksOf([...identifiers]));
    const ofDids = await read(db, selectLinksOfDids([...dids].map(didHash)));
    unproven = ofDids.filter((one) => !one.proves && !one.isErased && !identifiers.has(one.identifier)).length;
    for (const link of [...own, ...ofDids]) {
      if (!link.proves) continue;
      found.set(`${link.identifier} ${link.did}`, link);
      dids.add(link.did);
      if (!link.isErased) identifiers.add(link.identifier);
    }
  }
  const controllers = [...found.values()].flatMap(({ controller }) => controller?.toLowerCase() ?? []);
  return { identifiers: [...identifiers], dids: [...dids], accounts: [...new Set(controllers)], unproven };
}

async function read(db: Ctx['db'], statement: ReturnType<typeof selectLinksOf>): Promise<readonly PersonLink[]> {
  const rows = await db.read(statement);
  if (rows.length >= REGISTRATIONS_READ_MAX) throw badRequest('Too many registrations of one identifier');
  return rows.map(toLink);
}

/** The lists by which the tables' conditions find a person's rows. */
export function argsOf({ config }: Pick<Ctx, 'config'>, { identifiers, dids, accounts }: Person): PersonArgs {
  const didHashes = dids.map(didHash);
  const values = identifiers.map(textAfter);
  const handles = identifiers.filter((key) => key.startsWith('handle:')).map(textAfter);
  const lists = {
    identifiers,
    dids,
    accounts,
    did_hashes: didHashes,
    masks: identifiers.map(maskOf),
    address_masks: identifiers.filter((key) => !key.startsWith('handle:')).map(maskOf),
    // As JSON texts have them, with their quotes: a handle may be a part of another word.
    values: [...values, ...dids].map((value) => JSON.stringify(value)),
    subjects: [...didHashes, ...handles.map(aliasHash), ...accounts],
    limits: Object.keys(LIMITS),
    digests: identifiers.map((key) => erasureDigest(config.vaultSecret, key)),
    chains: [...new Set([...CHAINS, config.chainId])],
  };
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, JSON.stringify(list)]));
}

function maskOf(key: string): string {
  return maskIdentifier({ channel: channelOf(key), value: textAfter(key) });
}

function channelOf(key: string): Channel {
  return key.slice(0, key.indexOf(':')) as Channel;
}

function textAfter(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}
