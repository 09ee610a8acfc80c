// Finds the accounts of a passkey from the passkey alone. An answer of the vault or its node is evidence only where the
// page can verify it.
import {
  type Account,
  type AccountKind,
  type AccountState,
  indexOf,
  isSame,
  kindsOf,
  NoAccountError,
} from '../../client/wallet/account.ts';
import { keysOf, keysOfSigned } from '../../client/wallet/assertion-keys.ts';
import { fromBase64url, type Hex } from '../../client/wallet/bytes.ts';
import type { Enclave } from '../../client/wallet/enclave.ts';
import { type Assertion, accountNamedBy, askPasskey } from '../../client/wallet/passkey.ts';
import type { PublicKey } from '../../client/wallet/recover.ts';
import { type Config, RefusedError } from '../../client/wallet/vault.ts';
import { word } from '../words/words.ts';
import { lookUp, predictAddress, readState, readToken, type SignedText } from './api.ts';
import { readAccounts } from './memory.ts';
import { short } from './view.ts';

/** The input of a search. */
export interface Search {
  readonly config: Config;
  readonly enclave: Pick<Enclave, 'rawSignature'>;
  /** The credential ids of which one is asked for; absent, the person picks. */
  readonly ids?: readonly string[] | undefined;
  /** Tokens besides ether and USDC whose balance shows that an account is used; accounts that hold one come first. */
  readonly tokens?: readonly (Hex | 'native')[];
  /** Is given the passkey's first answer. */
  readonly seen?: (assertion: Assertion) => void;
  /** Called before the passkey is asked a second time, so that the page can say why, and wait for a press. */
  readonly again: () => Promise<void>;
}

/**
 * The accounts of a passkey that the person picks, at least one. Two keys can have made its signature. This device may
 * know which; or the signature that it registered with shows it, since the wrong keys of two signatures differ; or the
 * account of one of them is on-chain, with that key; else the person makes a second signature now.
 * A balance decides nothing: a node that makes one up would lead money to an account that nobody can open. A passkey
 * without any used account has the one that its key would create. Throws `PasskeyError`, `NoAccountError`.
 */
export async function findAccounts(search: Search): Promise<readonly Account[]> {
  const { config, enclave, ids } = search;
  const assertion = await askPasskey(config.rpId, crypto.getRandomValues(new Uint8Array(32)), ids);
  search.seen?.(assertion);
  const named = await readNamed(assertion);
  const [newest] = kindsOf(config);
  const keys = await keysOf(assertion, enclave);
  const candidates = await Promise.all(keys.map((key) => readCandidate(key, assertion, named, search)));
  const own =
    (await chooseKnown(candidates, assertion)) ??
    (await chooseSigned(candidates, enclave)) ??
    // After what the page can verify: a node could make up an account of the other key.
    only(candidates, ({ places }) => places.some(({ isDeployed }) => isDeployed)) ??
    (await chooseAgain(candidates, assertion, search));
  if (!own) throw new NoAccountError(named?.address);
  return accountsOf(await weigh(own, search), assertion, { named, newest });
}

/** The only one for which it is true. */
function only(candidates: readonly Candidate[], is: (one: Candidate) => boolean): Candidate | undefined {
  const [first, ...others] = candidates.filter(is);
  return others.length === 0 ? first : undefined;
}

/** The one whose key this device stored when the passkey was made here, or found before. */
async function chooseKnown(candidates: readonly Candidate[], { credentialId }: Assertion) {
  // A browser that stores nothing knows nothing.
  const held = await readAccounts().catch(() => []);
  return only(candidates, ({ key }) => held.some((one) => one.credentialId === credentialId && isSame(key, one)));
}

/**
 * The one whose key registered. A vault that lies cannot make such a signature for the other key, whose private half
 * follows from the passkey's alone. The first assertion would be one of both: then neither is chosen.
 */
async function chooseSigned(candidates: readonly Candidate[], enclave: Search['enclave']) {
  const signersOf = async ({ authenticatorData, clientDataHash, signature }: SignedText) =>
    keysOfSigned(
      {
        authenticatorData: fromBase64url(authenticatorData),
        clientDataHash: fromBase64url(clientDataHash),
        signature: fromBase64url(signature),
      },
      enclave,
    );
  // A signature that cannot be read shows nothing.
  const signers = await Promise.all(candidates.map(({ signed }) => (signed ? signersOf(signed).catch(() => []) : [])));
  return only(candidates, ({ key }) => signers.flat().some((signer) => isSame(key, signer)));
}

/** The one whose key made another signature too. */
async function chooseAgain(
  candidates: readonly Candidate[],
  { credentialId }: Assertion,
  { config, enclave, again }: Search,
): Promise<Candidate | undefined> {
  await again();
  const second = await askPasskey(config.rpId, crypto.getRandomValues(new Uint8Array(32)), [credentialId]);
  const met = await keysOf(second, enclave);
  return only(candidates, ({ key }) => met.some((other) => isSame(key, other)));
}

/** An account that the chain gives to a key. */
interface Place {
  readonly address: Hex;
  readonly kind: AccountKind;
  readonly isDeployed: boolean;
}

interface WeighedPlace extends Place {
  /** It has code, or holds something. */
  readonly isUsed: boolean;
  /** It holds the first of the tokens that were asked for. */
  readonly holdsFirst: boolean;
}

interface Candidate<P = Place> {
  readonly key: PublicKey;
  readonly places: readonly P[];
  readonly signed: SignedText | undefined;
}

interface Named {
  readonly address: Hex;
  readonly state: AccountState;
}

/** A passkey that was made for an existing account names it. Others may have random bytes there. */
async function readNamed(assertion: Assertion): Promise<Named | undefined> {
  const address = accountNamedBy(assertion);
  if (address === undefined) return undefined;
  const state = await readState(address);
  // Only accounts of kind 2 take further keys.
  return state.isOwn && state.kind === 2 ? { address, state } : undefined;
}

/** Where the key's accounts are or would be, where it is registered, and the named one: those that are the key's. */
async function readCandidate(
  key: PublicKey,
  { credentialId }: Assertion,
  named: Named | undefined,
  { config }: Search,
): Promise<Candidate> {
  const [{ account, signed }, predicted] = await Promise.all([
    lookUp(credentialId, key),
    Promise.all(kindsOf(config).map(async (kind) => ({ kind, address: await predictAddress(key, kind) }))),
  ]);
  const addresses = new Set([...predicted.map(({ address }) => address), ...(account ? [account] : [])]);
  if (named) addresses.add(named.address);
  const places = await Promise.all(
    Array.from(addresses, async (address): Promise<Place[]> => {
      const state = address === named?.address ? named.state : await readState(address);
      // The keys of a deployed account decide, never a registration or a name alone.
      const kind = state.isDeployed ? state.kind : predicted.find((one) => one.address === address)?.kind;
      if (kind === undefined || (state.isDeployed && indexOf(state, key) === undefined)) return [];
      return [{ address, kind, isDeployed: state.isDeployed }];
    }),
  );
  return { key, places: places.flat(), signed };
}

async function weigh({ places, ...rest }: Candidate, search: Search): Promise<Candidate<WeighedPlace>> {
  const weighed = places.map(async (place) => {
    const [first = 0n, ...others] = await readBalances(place.address, search);
    const isUsed = place.isDeployed || first > 0n || others.some((balance) => balance > 0n);
    return { ...place, isUsed, holdsFirst: first > 0n };
  });
  return { ...rest, places: await Promise.all(weighed) };
}

function readBalances(address: Hex, { config, tokens = [] }: Search): Promise<bigint[]> {
  const all = new Set([...tokens, 'native', ...(config.usdc ? [config.usdc.toLowerCase()] : [])]);
  return Promise.all(
    Array.from(all, (token) =>
      readToken(token, address).then(
        ({ balance }) => balance,
        (error) => {
          // A shop may name an address that is not a token.
          if (error instanceof RefusedError) return 0n;
          throw error;
        },
      ),
    ),
  );
}

/** The used accounts of the key, else the one that it would create. */
function accountsOf(
  { key, places }: Candidate<WeighedPlace>,
  { credentialId }: Assertion,
  { named, newest }: { readonly named: Named | undefined; readonly newest: AccountKind | undefined },
): Account[] {
  const used = places.filter(({ isUsed }) => isUsed);
  // A key that its account no longer has, or not yet, creates none beside it.
  const unused = named ? undefined : places.find(({ kind }) => kind === newest);
  if (used.length === 0 && unused === undefined) throw new NoAccountError(named?.address);
  return (unused && used.length === 0 ? [unused] : used)
    .toSorted((a, b) => Number(b.holdsFirst) - Number(a.holdsFirst))
    .map(({ address, kind }) => ({
      credentialId,
      address,
      kind,
      ...key,
      name: word('name.account', { address: short(address) }),
    }));
}
