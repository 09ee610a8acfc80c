import { isoTime } from '../base/clock.ts';
import { checkTime } from './chain.ts';
import { cidText } from './cid.ts';
import { UcanError } from './fault.ts';
import { cidOf, type Ipld, isList } from './ipld.ts';
import type { Delegation, Invocation } from './payload.ts';
import { checkSignature, readTokens, type Verifier, verifyInvocation } from './verify.ts';

/**
 * A decoded token. `tokens` in the order of the text; `fault` is the reason why it would be refused, null if it would
 * be accepted.
 */
export interface Inspection {
  readonly valid: boolean;
  readonly fault: string | null;
  readonly tokens: readonly InspectedToken[];
}

/** One delegation or invocation; `expires_at` is ISO 8601, `says` the payload as DAG-JSON. */
export interface InspectedToken {
  readonly kind: 'delegation' | 'invocation';
  readonly cid: string;
  readonly expires_at: string | null;
  readonly faults: readonly string[];
  readonly says: unknown;
}

/**
 * Decodes a text and verifies its invocation for the audience that it names; delegations without an invocation are
 * verified one by one. Never throws. Revocations are not checked.
 */
export async function inspectToken(text: string, verifier: Omit<Verifier, 'service'>): Promise<Inspection> {
  try {
    const read = readTokens(text);
    const tokens = await Promise.all(read.map((token) => inspectOne(token, verifier)));
    const invocation = read.find((token) => token.kind === 'inv');
    const fault = invocation
      ? await faultOf(text, { ...verifier, service: invocation.audience ?? invocation.subject })
      : (tokens.flatMap(({ faults }) => faults)[0] ?? null);
    return { valid: fault === null, fault, tokens };
  } catch (error) {
    if (error instanceof UcanError) return { valid: false, fault: error.message, tokens: [] };
    throw error;
  }
}

async function faultOf(text: string, verifier: Verifier): Promise<string | null> {
  const verdict = await verifyInvocation(text, verifier);
  return verdict.ok ? null : verdict.message;
}

async function inspectOne(
  token: Delegation | Invocation,
  { now, verify }: Omit<Verifier, 'service'>,
): Promise<InspectedToken> {
  const faults: string[] = [];
  const addFault = (error: unknown) => {
    if (!(error instanceof UcanError)) throw error;
    faults.push(error.message);
  };
  await checkSignature(token, verify).catch(addFault);
  try {
    checkTime(token, now);
  } catch (error) {
    addFault(error);
  }
  return {
    kind: token.kind === 'inv' ? 'invocation' : 'delegation',
    cid: token.cid,
    expires_at: token.expiresAt === null ? null : isoTime(token.expiresAt),
    faults,
    says: toDagJson(token.payload),
  };
}

/** A value as DAG-JSON, for `JSON.stringify`. */
function toDagJson(value: Ipld): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return { '/': { bytes: btoa(String.fromCharCode(...value)).replace(/=+$/, '') } };
  const cid = cidOf(value);
  if (cid) return { '/': cidText(cid) };
  if (isList(value)) return value.map(toDagJson);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toDagJson(item as Ipld)]));
}
