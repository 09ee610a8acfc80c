// The payloads of UCAN 1.0 delegations and invocations. An unknown member is refused: it may be a restriction.
import { isDid } from '../identity/did.ts';
import { cidText, isTokenCid } from './cid.ts';
import { isCommand } from './command.ts';
import type { Envelope, TokenKind } from './envelope.ts';
import { malformed, UcanError } from './fault.ts';
import { cidOf, type Ipld, type IpldMap, isList, isMap } from './ipld.ts';
import { type Policy, parsePolicy } from './policy.ts';

/** The most delegations of one invocation. */
export const UCAN_PROOFS_MAX = 8;

/** A delegation from issuer to audience. Times in milliseconds. */
export interface Delegation extends Envelope {
  readonly kind: 'dlg';
  readonly audience: string;
  /** Null: the subject of the previous delegation. */
  readonly subject: string | null;
  readonly command: string;
  readonly policy: Policy;
  readonly notBefore: number;
  /** Null: never. */
  readonly expiresAt: number | null;
}

/** An invocation of a command by its issuer. Times in milliseconds. */
export interface Invocation extends Envelope {
  readonly kind: 'inv';
  readonly audience: string | undefined;
  readonly subject: string;
  readonly command: string;
  readonly args: IpldMap;
  /** The CIDs of its delegations, the subject's own first. */
  readonly proofs: readonly string[];
  /** When it was issued (`iat`); 0 if it does not say. */
  readonly notBefore: number;
  readonly expiresAt: number | null;
}

/** Reads and checks the payload of an envelope. Throws `UcanError`. */
export function readPayload(envelope: Envelope): Delegation | Invocation {
  const { kind, payload } = envelope;
  const stranger = Object.keys(payload).find((name) => !MEMBERS[kind].includes(name));
  if (stranger !== undefined) throw malformed('a member that UCAN 1.0 does not name');
  const { aud, sub, cmd, exp, nonce, meta } = payload;
  const command = typeof cmd === 'string' && isCommand(cmd) ? cmd : refuse('cmd');
  const expiresAt = exp === null ? null : timeOf('exp', exp);
  if (!(nonce instanceof Uint8Array) && (kind === 'dlg' || nonce !== undefined)) refuse('nonce');
  if (meta !== undefined && !isMap(meta)) refuse('meta');
  const common = { ...envelope, command, expiresAt };
  if (kind === 'inv') return { ...common, kind, ...readInvocation(payload) };
  return {
    ...common,
    kind,
    audience: didOf('aud', aud),
    subject: sub === null ? null : didOf('sub', sub),
    policy: parsePolicy(payload['pol']) ?? refuse('pol'),
    notBefore: payload['nbf'] === undefined ? 0 : timeOf('nbf', payload['nbf']),
  };
}

const MEMBERS: Readonly<Record<TokenKind, readonly string[]>> = {
  dlg: ['iss', 'aud', 'sub', 'cmd', 'pol', 'nonce', 'meta', 'nbf', 'exp'],
  inv: ['iss', 'sub', 'aud', 'cmd', 'args', 'prf', 'meta', 'nonce', 'exp', 'iat', 'cause'],
};

function readInvocation({ aud, sub, args, prf, iat, cause }: IpldMap) {
  if (cause !== undefined && cidOf(cause) === undefined) refuse('cause');
  return {
    audience: aud === undefined || aud === null ? undefined : didOf('aud', aud),
    subject: didOf('sub', sub),
    args: isMap(args) ? args : refuse('args'),
    notBefore: iat === undefined ? 0 : timeOf('iat', iat),
    proofs: isList(prf) ? readProofs(prf) : refuse('prf'),
  };
}

/** Count and lengths are checked first: base58 takes time proportional to the square of a link's length. */
function readProofs(links: readonly Ipld[]): readonly string[] {
  if (links.length > UCAN_PROOFS_MAX) throw new UcanError('large', `more than ${UCAN_PROOFS_MAX} delegations`);
  return links.map((proof) => {
    const cid = cidOf(proof);
    return cid && isTokenCid(cid) ? cidText(cid) : refuse('prf');
  });
}

function didOf(name: string, value: Ipld | undefined): string {
  return typeof value === 'string' && isDid(value) ? value : refuse(name);
}

/** Seconds since 1970 as milliseconds, within the range of `Date` (the year 275760). */
function timeOf(name: string, value: Ipld | undefined): number {
  const isTime = typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 8.64e12;
  return isTime ? value * 1000 : refuse(name);
}

function refuse(name: string): never {
  throw malformed(`${name} is missing or not as UCAN 1.0 has it`);
}
