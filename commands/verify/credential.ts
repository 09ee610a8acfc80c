import { isoTime, systemClock } from '../../lib/base/clock.ts';
import {
  type CredentialFault,
  type HolderBinding,
  judgeCredential,
  readCredential,
} from '../../lib/credentials/judge.ts';
import type { Json } from '../../lib/credentials/jwt.ts';
import { CREDENTIAL_KINDS, type CredentialKind, credentialTypeOf } from '../../lib/credentials/types.ts';
import type { Arguments } from '../cli/arguments.ts';
import { type IssuerKeys, readIssuerKeys, wellKnownOf } from './issuer-keys.ts';
import type { EvidenceJudgement } from './judgement.ts';

/** A JWT with disclosures behind it, also one that was changed; or one of which they were cut off. */
const FORM = /^[\w-]+\.[\w-]+\.[\w-]*~|^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/;
const CHANNEL_OF = { email: 'email', phone: 'sms' } as const satisfies Readonly<Record<CredentialKind, string>>;
const SHOWN = ['email', 'email_domain', 'phone_number', 'sub'] as const;

/**
 * Judges a credential (SD-JWT VC) by the keys that `--jwks` names; undefined for a text that is none. Asks no host that
 * the credential alone names.
 */
export async function judgeCredentialText(given: Arguments, text: string): Promise<EvidenceJudgement | undefined> {
  if (!FORM.test(text)) return undefined;
  const opened = readCredential(text);
  if ('fault' in opened) return judged('not_good', WORDS[opened.fault]);
  const { claims } = opened;
  const issuer = String(claims['iss']);
  const kind = CREDENTIAL_KINDS.find((one) => claims['vct'] === credentialTypeOf({ baseUrl: issuer }, one));
  const facts = factsOf(claims, kind);
  const wellKnown = wellKnownOf(issuer);
  if (wellKnown === undefined)
    return judged('not_good', 'Its issuer is no https origin, so nobody publishes its keys.');
  if (kind === undefined) return judged('not_good', 'Its type is none of its issuer’s.', facts);
  const now = systemClock.now();
  const judge = (keys: IssuerKeys) =>
    judgeCredential(text, { issuer: keys.issuer ?? issuer, keys: keys.keys, now: Math.floor(now / 1000) });
  // Faults that no key can mend come first, and nobody is asked about them.
  const before = await judge({ keys: [] });
  if ('fault' in before && before.fault !== 'key')
    return judged('not_good', before.fault === 'time' ? timeInWords(claims, now) : WORDS[before.fault], facts);
  const keys = await readIssuerKeys(given, wellKnown);
  if ('unread' in keys) return judged('undecided', keys.unread, facts);
  const verdict = await judge(keys);
  if ('fault' in verdict) return judged('not_good', WORDS[verdict.fault], facts);
  return judgeShowing(given, verdict.binding, facts);
}

/** A credential that is good by itself: whether its holder signed for the audience and the nonce that are expected. */
function judgeShowing(
  { options: { audience: expected, nonce: word } }: Arguments,
  binding: HolderBinding | null,
  facts: EvidenceJudgement['facts'],
): EvidenceJudgement {
  const isExpected = expected !== undefined || word !== undefined;
  if (!binding)
    return isExpected ? judged('not_good', COPY, facts) : judged('good', `${GOOD} ${COPY}`, facts, [HOLDER_NOT_SHOWN]);
  const { audience, nonce, at } = binding;
  const shown = { ...facts, shown_to: audience, shown_at: timeOf(at), nonce };
  if (expected !== undefined && audience !== expected) return judged('not_good', OTHER_AUDIENCE, shown);
  if (word !== undefined && nonce !== word) return judged('not_good', OTHER_NONCE, shown);
  if (expected === undefined || word === undefined)
    return judged('good', `${GOOD} Its holder signed that it is shown.`, shown, [COMPARE]);
  return judged('good', `${GOOD} Its holder signed it for this audience and this nonce.`, shown, [ONCE]);
}

function judged(
  verdict: EvidenceJudgement['verdict'],
  finding: string,
  facts: EvidenceJudgement['facts'] = {},
  notes: EvidenceJudgement['notes'] = [],
): EvidenceJudgement {
  return { kind: 'credential', verdict, finding, facts, notes };
}

function factsOf(claims: Json, kind: CredentialKind | undefined): EvidenceJudgement['facts'] {
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : null);
  return {
    issuer: text('iss'),
    channel: kind === undefined ? null : CHANNEL_OF[kind],
    ...Object.fromEntries(SHOWN.map((name) => [name, text(name)])),
    verified_at: timeOf(claims['verified_at']),
    issued_at: timeOf(claims['iat']),
    expires_at: timeOf(claims['exp']),
  };
}

function timeInWords({ iat, exp }: Json, now: number): string {
  const [issued, ends] = [timeOf(iat), timeOf(exp)];
  if (issued === null || ends === null) return WORDS.time;
  const is = `it is ${isoTime(now)}`;
  return Date.parse(ends) <= now ? `It ended at ${ends}; ${is}.` : `It was issued at ${issued}, later than now: ${is}.`;
}

/** Seconds since 1970 as a time; null for anything else. */
function timeOf(seconds: unknown): string | null {
  return typeof seconds === 'number' && Math.abs(seconds) <= SECONDS_MAX ? isoTime(seconds * 1000) : null;
}

/** The last time that has four digits for its year. */
const SECONDS_MAX = 253_402_300_799;

const GOOD = 'Its issuer signed it, and it has not ended.';
const COPY = 'It is without key binding: a copy.';
const HOLDER_NOT_SHOWN =
  'Nothing shows that who gave it to you is its holder: demand it signed for your own nonce and origin.';
const COMPARE =
  'It was shown to you only if shown_to is your origin and nonce is yours, else it is a copy: --audience and --nonce compare both.';
const OTHER_AUDIENCE = 'Its holder showed it to somebody else: shown_to is not that of --audience.';
const OTHER_NONCE = 'Its holder showed it another time: its nonce is not that of --nonce.';
const ONCE = 'Take each nonce once: anyone who has this file can give it to you again.';

const WORDS: Readonly<Record<CredentialFault, string>> = {
  form: 'It is cut off or malformed: a credential is a JWT, its disclosures, each with ~ behind it.',
  typ: 'Its header is none of a credential: typ dc+sd-jwt, alg ES256, no crit.',
  key: 'It is signed by none of the keys that --jwks names.',
  signature: 'The key that it names did not sign it, or somebody changed it.',
  issuer: 'The keys that --jwks names are of another issuer.',
  time: 'A time is missing or malformed.',
  disclosure: 'It shows something that is not in it, or shows it twice, or says no type.',
  holder: 'It is for no holder’s key (cnf).',
  binding_missing: COPY,
  binding: 'The signature of its holder (kb+jwt) is not of the key that it is for, or not for what it shows.',
};
