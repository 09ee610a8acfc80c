import { isoTime } from '../base/clock.ts';
import { checkTime } from './chain.ts';
import { cidText } from './cid.ts';
import { UcanError } from './fault.ts';
import { cidOf, type Ipld, isList } from './ipld.ts';
import type { Delegation, Invocation } from './payload.ts';
import { checkSignature, type Occasion, readTokens, verifyInvocation } from './verify.ts';

/** A token laid open; `tokens` are in the order of the text, and `fault` says in words why it would not be followed, null when it would. */
export interface Inspection {
  readonly valid: boolean;
  readonly fault: string | null;
  readonly tokens: readonly InspectedToken[];
}

/** One delegation or invocation; bytes and links in `says` are as DAG-JSON has them, times ISO 8601. */
export interface InspectedToken {
  readonly kind: 'delegation' | 'invocation';
  readonly cid: string;
  readonly expires_at: string | null;
  readonly faults: readonly string[];
  readonly says: unknown;
}

/** Lays a token open and judges it by whom it is made out to itself; delegations alone are judged each for themselves. Throws nothing. Revocations are not known here. */
export async function inspectToken(text: string, occasion: Omit<Occasion, 'service'>): Promise<Inspection> {
  try {
    const read = readTokens(text);
    const tokens = await Promise.all(read.map((token) => inspectOne(token, occasion)));
    const invocation = read.find((token) => token.kind === 'inv');
    const fault = invocation
      ? await faultOf(text, { ...occasion, service: invocation.audience ?? invocation.subject })
      : (tokens.flatMap(({ faults }) => faults)[0] ?? null);
    return { valid: fault === null, fault, tokens };
  } catch (error) {
    if (error instanceof UcanError) return { valid: false, fault: error.message, tokens: [] };
    throw error;
  }
}

async function faultOf(text: string, occasion: Occasion): Promise<string | null> {
  const verdict = await verifyInvocation(text, occasion);
  return verdict.ok ? null : verdict.message;
}

async function inspectOne(
  token: Delegation | Invocation,
  { now, verify }: Omit<Occasion, 'service'>,
): Promise<InspectedToken> {
  const faults: string[] = [];
  const note = (error: unknown) => {
    if (!(error instanceof UcanError)) throw error;
    faults.push(error.message);
  };
  await checkSignature(token, verify).catch(note);
  try {
    checkTime(token, now);
  } catch (error) {
    note(error);
  }
  return {
    kind: token.kind === 'inv' ? 'invocation' : 'delegation',
    cid: token.cid,
    expires_at: token.expiresAt === null ? null : isoTime(token.expiresAt),
    faults,
    says: toDagJson(token.payload),
  };
}

/** A value as DAG-JSON writes it, for people and for `JSON.stringify`. */
function toDagJson(value: Ipld): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return { '/': { bytes: btoa(String.fromCharCode(...value)).replace(/=+$/, '') } };
  const cid = cidOf(value);
  if (cid) return { '/': cidText(cid) };
  if (isList(value)) return value.map(toDagJson);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toDagJson(item as Ipld)]));
}
