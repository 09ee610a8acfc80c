import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex, utf8 } from '../base/bytes.ts';

/** The longest DID, in UTF-16 code units. */
export const DID_CHARS_MAX = 2048;

/** DID Core 1.0 section 3.1 (ABNF): `did:` method-name `:` method-specific-id. */
const DID = /^did:([a-z0-9]+):(?:(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})*:)*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+$/;

/** Whether the text is a DID, of one of `methods` unless that list is empty. DIDs are compared byte for byte. */
export function isDid(text: string, methods: readonly string[] = []): boolean {
  if (text.length > DID_CHARS_MAX) return false;
  const method = DID.exec(text)?.[1];
  return method !== undefined && (methods.length === 0 || methods.includes(method));
}

/** The DID's hash in the registry: keccak256 of its UTF-8, as 0x-hex. */
export function didHash(did: string): `0x${string}` {
  return `0x${toHex(keccak_256(utf8(did)))}`;
}

/** The did:web of an origin (W3C did:web method), the port and the brackets of an IPv6 address percent-encoded. */
export function webDid(origin: string): string {
  return `did:web:${encodeURIComponent(new URL(origin).host)}`;
}

/**
 * The canonical alias hash, as 0x-hex: keccak256 of the lower-case hex text (ASCII, unprefixed) of the normal form's
 * UTF-8. Not the plain hash of the text: published clients put this one on-chain.
 */
export function aliasHash(value: string): `0x${string}` {
  return `0x${toHex(keccak_256(utf8(toHex(utf8(value)))))}`;
}

/** The names of chains in did:hyper, as far as they are documented, by chain id. */
const HYPER_NETWORKS: Readonly<Record<number, string>> = { 84532: 'base-sepolia', 8453: 'base' };

const NAMES_ACCOUNT = /^did:(?:(pkh):eip155:([1-9]\d*)|(hyper):([a-z0-9-]+)):0x([0-9a-fA-F]{40})$/;

/** The method, the chain and the address (as written) that a did:pkh of an EVM chain or a did:hyper names. */
export interface NamedAccount {
  readonly method: 'pkh' | 'hyper';
  /** Undefined for a network of did:hyper without a known chain. */
  readonly chainId: number | undefined;
  readonly address: string;
}

/** What a DID names by its text; undefined for any other DID. */
export function namedAccount(did: string): NamedAccount | undefined {
  const [, pkh, eip155, , network, digits] = NAMES_ACCOUNT.exec(did) ?? [];
  if (digits === undefined) return undefined;
  const address = `0x${digits}`;
  if (pkh) return { method: 'pkh', chainId: Number(eip155), address };
  const [chainId] = Object.entries(HYPER_NETWORKS).find(([, name]) => name === network) ?? [];
  return { method: 'hyper', chainId: chainId === undefined ? undefined : Number(chainId), address };
}

/** The method's name in a DID; undefined for a text that is none. */
export function methodOf(did: string): string | undefined {
  return isDid(did) ? DID.exec(did)?.[1] : undefined;
}

/**
 * How a DID itself names its controller: `address` when a did:pkh or a did:hyper of this chain names it, `another` when
 * a did:pkh of this chain names another account. Any other DID is a label: null.
 */
export function didNames(did: string, chainId: number, controller: string): 'address' | 'another' | null {
  const named = namedAccount(did);
  if (named?.chainId !== chainId) return null;
  if (named.address.toLowerCase() === controller.toLowerCase()) return 'address';
  return named.method === 'pkh' ? 'another' : null;
}
