import { type Catalogue, ENGLISH, fillMessage, ISOLATES } from '../../client/catalogue.ts';
import type { Purpose } from '../base/purpose.ts';
import { type ChallengeNews, challengeLetter, challengeTexts } from './challenge-message.ts';
import { type CodeMessage, escapeHtml, type MailContent, type MailPart, mailHtml, mailText } from './message-page.ts';
import { type PasskeyNews, passkeyLetter } from './passkey-message.ts';
import type { MailBrand } from './provider.ts';
import { type Letter, type RecoveryNews, recoveryLetter, type Say } from './recovery-message.ts';
import { fittingText, smsOf } from './sms-text.ts';

// The messages that carry a one-time code. Their last line is the WICG "origin-bound one-time codes" format.

export type { CodeMessage } from './message-page.ts';

/** The contents of a message, and the lifetime of its code. */
export interface CodeNotice {
  /** Absent when the message carries the pass alone. */
  readonly code?: string | undefined;
  /** The purpose of the code; if absent, to sign up. */
  readonly purpose?: Purpose | undefined;
  /** The link of a pass. */
  readonly pass?: string | undefined;
  /**
   * A notice without a code or link: another DID has taken the address or number over, or the operator sends a test.
   */
  readonly notice?: 'taken_over' | 'test' | undefined;
  /** The state of a recovery of an account. */
  readonly recovery?: RecoveryNews | undefined;
  /** Another DID claims an address of the reader's. */
  readonly challenge?: ChallengeNews | undefined;
  /** A passkey that is new to the reader's account was used. */
  readonly passkey?: PasskeyNews | undefined;
  readonly lifetimeSeconds: number;
}

/** Sender and reader: the brand, the words of the person's language, and the settings that texts name. */
export interface Letterhead {
  readonly brand: MailBrand;
  readonly words: Catalogue;
  readonly language: string;
  /** The ids whose text is English, as the language lacks them. */
  readonly english: readonly string[];
  readonly direction: 'ltr' | 'rtl';
  readonly host: string;
  /** `CREDENTIAL_TTL_SECONDS`: how long others believe what a code for a credential gives. */
  readonly credentialSeconds: number;
}

/** The pages' own accent (`assets/design/tokens.css`). */
const COLORS = { light: '#3146c8', dark: '#96a5ff' };

/**
 * The mail's content. The code is near the start, where previews show it, and not in the subject, which servers log.
 */
export function codeMessage(notice: CodeNotice, head: Letterhead): CodeMessage {
  const say = sayingOf(notice, head, head.direction === 'rtl');
  const { subject, parts } = letterOf(notice, say, head.language);
  const { name: brand, support, color = COLORS } = head.brand;
  const end =
    support === undefined ? [] : ([{ kind: 'line' }, { kind: 'quiet', text: say('support', { support }) }] as const);
  // The line before the pass is the line before support, too.
  const last = parts.some(({ kind }) => kind === 'line') ? end.slice(1) : end;
  const { language, direction, host } = head;
  const content: MailContent = { subject, brand, language, direction, colors: color, parts: [...parts, ...last] };
  const bound = notice.code === undefined ? undefined : boundLine(notice.code, host);
  return { subject, text: mailText(content) + (bound === undefined ? '' : `\n${bound}\n`), html: mailHtml(content) };
}

/** The text of the SMS, one segment. */
export function smsText(notice: CodeNotice, head: Letterhead): string {
  const { code, pass, purpose, lifetimeSeconds } = notice;
  if (notice.notice === 'test') return `Test of ${head.host}: SMS arrive. Nobody need do anything.`;
  const bound = code === undefined ? undefined : boundLine(code, head.host);
  const lifetime = lifetimeText(lifetimeSeconds, head.language);
  const say = sayingOf(notice, head);
  const { challenge } = notice;
  if (challenge) return fittingText(say, (plain) => challengeTexts(challenge, plain, head.host));
  const isTaken = notice.notice !== undefined;
  return smsOf({ code, pass, purpose, isTaken, boundLine: bound, lifetime, host: head.host }, say);
}

/** Subjects stay plain: programs that show them would show marks of direction, too. */
function sayingOf(
  { lifetimeSeconds }: CodeNotice,
  { brand, host, words, language, english, credentialSeconds }: Letterhead,
  isIsolated = false,
): Say {
  const { name, site = host } = brand;
  const place = name === site ? name : `${name} (${site})`;
  return (id, values) => {
    const isEnglish = english.includes(id);
    const spoken = isEnglish ? 'en' : language;
    const [lifetime, credential_lifetime] = [
      lifetimeText(lifetimeSeconds, spoken),
      lifetimeText(credentialSeconds, spoken),
    ];
    const always = { brand: name, place, lifetime, credential_lifetime };
    const isMarked = isIsolated && !id.endsWith('subject');
    const text = fillMessage(words[id] ?? id, { ...always, ...values }, spoken, isMarked ? ISOLATES : undefined);
    return isMarked && isEnglish ? ENGLISH[0] + text + ENGLISH[1] : text;
  };
}

function letterOf(
  { code, pass, purpose = 'registration', notice, recovery, challenge, passkey }: CodeNotice,
  say: Say,
  language: string,
): Letter {
  if (recovery !== undefined) return recoveryLetter(recovery, say, language);
  if (challenge !== undefined) return challengeLetter(challenge, say, language);
  if (passkey !== undefined) return passkeyLetter(passkey, say, language);
  if (notice === 'test') return TEST_LETTER;
  if (notice !== undefined) return letter('taken', say, ['what', 'before', 'advice']);
  if (code === undefined) {
    const { subject, parts } = letter('pass', say, ['why', 'how']);
    const link: MailPart = { kind: 'link', text: pass ?? '' };
    return { subject, parts: [...parts, link, { kind: 'quiet', text: say('pass.ignore') }] };
  }
  const another: readonly MailPart[] =
    pass === undefined
      ? []
      : [{ kind: 'line' }, { kind: 'quiet', text: say('code.another') }, { kind: 'link', text: pass }];
  // The effect of the code comes before the way to use it.
  const { parts } = letter('code', say, [purpose, 'enter', 'ignore']);
  const subject = say(purpose === 'registration' ? 'code.subject' : `code.${purpose}_subject`);
  return { subject, parts: [{ kind: 'code', text: code }, ...parts, ...another] };
}

/** For the operator, so in English. */
const TEST_LETTER: Letter = {
  subject: 'Test: this vault can send mail',
  parts: [
    { kind: 'text', text: 'This is a test that the operator of this service had sent. It carries no code.' },
    { kind: 'text', text: 'If it lies among junk, see what vault doctor says of SPF, DKIM and DMARC.' },
  ],
};

function letter(group: string, say: Say, ids: readonly string[]): Letter {
  const parts = ids.map((id): MailPart => ({ kind: 'text', text: say(`${group}.${id}`) }));
  return { subject: say(`${group}.subject`), parts };
}

/** Stand for code and pass in a mail that is kept; no service has them in its name. */
const [CODE, PASS] = ['\ue000', '\ue001'];

/** `codeMessage` for a letterhead. All of a code's mail but code and pass is made once for each lifetime and use. */
export function createComposer(head: Letterhead): (notice: CodeNotice) => CodeMessage {
  const known = new Map<string, Record<'subject' | 'text' | 'html', readonly string[]>>();
  const keep = (shape: string, notice: CodeNotice) => {
    const carried = { ...(notice.code && { code: CODE }), ...(notice.pass && { pass: PASS }) };
    const { purpose, lifetimeSeconds } = notice;
    const { subject, text, html } = codeMessage({ ...carried, purpose, lifetimeSeconds }, head);
    const parts = (whole: string) => whole.split(new RegExp(`(${CODE}|${PASS})`));
    const made = { subject: parts(subject), text: parts(text), html: parts(html) };
    known.set(shape, made);
    return made;
  };
  return (notice) => {
    const { code = '', pass = '', purpose = '', lifetimeSeconds } = notice;
    if (notice.notice ?? notice.recovery ?? notice.challenge ?? notice.passkey) return codeMessage(notice, head);
    const shape = `${lifetimeSeconds} ${code !== ''} ${pass !== ''} ${purpose}`;
    const { subject, text, html } = known.get(shape) ?? keep(shape, notice);
    return {
      subject: fill(subject, code, pass),
      text: fill(text, code, pass),
      html: fill(html, escapeHtml(code), escapeHtml(pass)),
    };
  };
}

function fill(parts: readonly string[], code: string, pass: string): string {
  let whole = '';
  for (const part of parts) whole += part === CODE ? code : part === PASS ? pass : part;
  return whole;
}

const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** A lifetime in words, exactly: "90 seconds", "10 minutes", "1 day". */
function lifetimeText(seconds: number, language: string): string {
  const [size, unit] = UNITS.find(([one]) => seconds >= one && seconds % one === 0) ?? ([1, 'second'] as const);
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(seconds / size);
}

/**
 * The format binds to `https://<domain>` on its default port, so an IP address, a bare name or a port gets no such
 * line.
 */
function boundLine(code: string, host: string): string | undefined {
  return /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(host) ? `@${host} #${code}` : undefined;
}
