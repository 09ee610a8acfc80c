/** The DID document and its metadata, by what the chain shows. */
import * as P256 from 'ox/P256';
import { isoTime } from '../base/clock.ts';
import { p256Multikey } from '../identity/multikey.ts';
import { coordinatesOf } from '../identity/passkey.ts';
import type { AskedDid, DidPlace, DidState } from './read-state.ts';

type Json = Readonly<Record<string, unknown>>;

/** The keys of an account: those that it shows, the one that its address follows from, or the address itself. */
export type AccountMethods = { readonly keys: readonly string[] } | { readonly isAddress: true };

/** A delegation of EIP-7702: the address is still that of a secp256k1 key, whatever its delegate shows. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;

/** Which keys speak for an account; `predicted` is the key that an address without code follows from, if known. */
export function accountMethodsOf({ code, keys }: Pick<DidState, 'code' | 'keys'>, predicted?: string): AccountMethods {
  if (DELEGATION.test(code)) return { isAddress: true };
  if (code !== '0x') return { keys };
  return predicted === undefined ? { isAddress: true } : { keys: [predicted] };
}

/** The document of a DID. It says nothing of handles, addresses or services. */
export function documentOf(
  { did, method, address, chainId }: AskedDid,
  { controller }: DidState,
  methods: AccountMethods,
): Json {
  const isMoved = controller !== address.toLowerCase();
  const account = `eip155:${chainId}:${isMoved ? controller : address}`;
  const isAddress = 'isAddress' in methods;
  const own = isAddress
    ? [{ id: `${did}#blockchainAccountId`, type: RECOVERY, controller: did, blockchainAccountId: account }]
    : multikeysOf(did, methods.keys);
  return {
    '@context': ['https://www.w3.org/ns/did/v1.1', ...(isAddress ? [RECOVERY_CONTEXT] : [])],
    id: did,
    ...(isMoved && method === 'pkh' ? { controller: `did:pkh:${account}` } : {}),
    ...(own.length > 0 ? { verificationMethod: own, authentication: own.map(({ id }) => id) } : {}),
  };
}

/** What is said of the document: the entry in the registry, and where to look for the same. */
export function metadataOf({ did, chainId }: AskedDid, { entry }: DidState, { block, registry }: DidPlace): Json {
  const isElsewhere = entry !== null && entry.text !== did;
  return {
    ...(entry ? { created: timeText(entry.created) } : {}),
    ...(entry && entry.updated > entry.created ? { updated: timeText(entry.updated) } : {}),
    ...(entry?.active === false ? { deactivated: true } : {}),
    versionId: String(block.number),
    ...(isElsewhere ? { canonicalId: entry.text, equivalentId: [entry.text] } : {}),
    // The number is text: the suite of DID Core takes no numbers in metadata.
    chain: {
      chainId: `eip155:${chainId}`,
      blockNumber: String(block.number),
      blockHash: block.hash,
      registry,
      registered: entry !== null,
    },
  };
}

/** A contract can show anything: what is no point of the curve is no key, and a key is named once. */
function multikeysOf(did: string, keys: readonly string[]) {
  const texts = new Set(keys.flatMap((key) => multikeyOf(key) ?? []));
  return Array.from(texts, (publicKeyMultibase) => ({
    id: `${did}#${publicKeyMultibase}`,
    type: 'Multikey',
    controller: did,
    publicKeyMultibase,
  }));
}

function multikeyOf(key: string): string | undefined {
  try {
    const point = P256.noble.Point.fromAffine(coordinatesOf(key));
    point.assertValidity();
    return p256Multikey(point.toBytes(true));
  } catch {
    return undefined;
  }
}

function timeText(seconds: number): string {
  return isoTime(seconds * 1000).replace('.000', '');
}

/** The method that did:pkh has of an address, as `pkh-did-resolver` writes it. */
const RECOVERY = 'EcdsaSecp256k1RecoveryMethod2020';
const RECOVERY_CONTEXT = {
  blockchainAccountId: 'https://w3id.org/security#blockchainAccountId',
  [RECOVERY]: 'https://identity.foundation/EcdsaSecp256k1RecoverySignature2020#EcdsaSecp256k1RecoveryMethod2020',
};
