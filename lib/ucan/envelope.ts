// UCAN 1.0 envelope: [signature, { h: varsig header, "ucan/<kind>@1.0.0": payload }], in canonical DAG-CBOR.
import { concat, equalBytes } from '../base/bytes.ts';
import { cidBytes, cidText } from './cid.ts';
import { decode } from './decode.ts';
import { ALGORITHMS, fromDidKey } from './did-key.ts';
import { encode } from './encode.ts';
import { malformed } from './fault.ts';
import { type Ipld, type IpldMap, isList, isMap } from './ipld.ts';
import { twinOf, type UcanSigner } from './signature.ts';

/** `dlg`: a delegation. `inv`: an invocation. */
export type TokenKind = 'dlg' | 'inv';

/** A token's envelope, decoded but not verified. */
export interface Envelope {
  readonly kind: TokenKind;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly cid: string;
  /** Every CID the token can have: a P-256 signature has a twin, and any holder of the token can compute it. */
  readonly cids: readonly string[];
  readonly issuer: string;
  readonly payload: IpldMap;
  readonly signature: Uint8Array;
  /** The bytes that are signed. */
  readonly signed: Uint8Array<ArrayBuffer>;
}

/** Signs a payload; returns the token's bytes. */
export async function signEnvelope(
  signer: UcanSigner,
  kind: TokenKind,
  payload: IpldMap,
): Promise<Uint8Array<ArrayBuffer>> {
  const signed = encode({ h: ALGORITHMS[signer.algorithm].varsig, [TAGS[kind]]: payload });
  return concat(PAIR, encode(await signer.sign(signed)), signed);
}

/** Decodes a token. Throws `UcanError`, also if the header names another algorithm than that of the issuer's key. */
export function openEnvelope(bytes: Uint8Array<ArrayBuffer>): Envelope {
  const [signature, body] = pairOf(decode(bytes));
  const kind = KINDS.find((one) => Object.hasOwn(body, TAGS[one]));
  const payload = kind && body[TAGS[kind]];
  if (!kind || !isMap(payload) || Object.keys(body).length !== 2) throw malformed('not a token of UCAN 1.0');
  const { iss: issuer } = payload;
  if (typeof issuer !== 'string') throw malformed('a token without an issuer');
  const { algorithm } = fromDidKey(issuer);
  const { h: header } = body;
  if (!(header instanceof Uint8Array) || !equalBytes(header, ALGORITHMS[algorithm].varsig))
    throw malformed("the signature's header does not fit the issuer's key");
  // Not encoded again: the signature covers exactly these bytes.
  const signed = bytes.slice(PAIR.length + encode(signature).length);
  const cid = cidText(cidBytes(bytes));
  const hasTwin = algorithm === 'P-256' && signature.length === 64;
  const cids = hasTwin ? [cid, cidText(cidBytes(concat(PAIR, encode(twinOf(signature)), signed)))].sort() : [cid];
  return { kind, bytes, cid, cids, issuer, payload, signature, signed };
}

const TAGS = { dlg: 'ucan/dlg@1.0.0', inv: 'ucan/inv@1.0.0' } as const;
const KINDS = ['dlg', 'inv'] as const;

/** The head of a list of two. */
const PAIR = Uint8Array.of(0x82);

function pairOf(value: Ipld): readonly [Uint8Array, IpldMap] {
  const [signature, body] = isList(value) && value.length === 2 ? value : [];
  if (!(signature instanceof Uint8Array) || !isMap(body)) throw malformed('not an envelope of UCAN');
  return [signature, body];
}
