import { type CodeMessage, escapeHtml, page } from './message-page.ts';
import { type RecoveryNews, recoveryMessage } from './recovery-message.ts';

export type { CodeMessage } from './message-page.ts';

/** The characters of one SMS segment in the GSM 7-bit alphabet. */
const SMS_CHARS_MAX = 160;

/** The messages that carry a one-time code. Their last line is the WICG "origin-bound one-time codes" format. */

/** What a message carries, the service it is for (the host of `BASE_URL`), and the lifetime of its code. */
export interface CodeNotice {
  /** Absent when the message carries the pass alone. */
  readonly code?: string | undefined;
  /** The link of a pass. */
  readonly pass?: string | undefined;
  /** Another DID has taken the address or the number over: the message says so and carries nothing. */
  readonly notice?: 'taken_over';
  /** A recovery of an account: the message says how it stands. */
  readonly recovery?: RecoveryNews;
  readonly service: string;
  readonly lifetimeSeconds: number;
}

/** A mail as plain data; `from` is an RFC 5322 mailbox, `to` a bare address. */
export interface Mail extends CodeMessage {
  readonly from: string;
  readonly to: string;
  /** The same in a mail that is sent again (RFC 5322 section 3.6.4); else the mailer makes one. */
  readonly messageId?: string;
}

/**
 * The mail's content. The code starts the body, where previews show it, and is not in the subject, which mail servers
 * log.
 */
export function codeMessage(notice: CodeNotice): CodeMessage {
  const { code, pass, service } = notice;
  if (notice.notice !== undefined) return takenOverMessage(notice);
  if (notice.recovery !== undefined) return recoveryMessage(notice.recovery, service);
  if (code === undefined) return passMessage(notice);
  const subject = `Your code for ${service}`;
  const words = { opening: isFor(notice), advice: advice(notice), link: pass === undefined ? '' : PASS_ADVICE };
  const paragraphs = [`${code} ${words.opening}`, words.advice, ...(pass === undefined ? [] : [words.link, pass])];
  return {
    subject,
    text: `${[...paragraphs, ...boundLine(code, service)].join('\n\n')}\n`,
    html: page({ subject, code, pass, ...words }),
  };
}

/** The mail without a code, after too many wrong guesses: its link lets the reader's device ask for one. */
function passMessage({ pass = '', service }: CodeNotice): CodeMessage {
  const subject = `Ask again for your code for ${service}`;
  const opening = `Somebody has entered many wrong codes for this address, so ${service} does not send one yet.`;
  const link = 'To get one, open this link on the device that needs it, press the button, and ask for a code again:';
  const closing = 'If you did not ask for a code, ignore this message. Nobody gets in without your mailbox.';
  return {
    subject,
    text: `${[opening, link, pass, closing].join('\n\n')}\n`,
    html: page({ subject, pass, opening: `${opening} ${link}`, link: '', advice: closing }),
  };
}

/** The mail to an address that another DID has taken over. */
function takenOverMessage({ service }: CodeNotice): CodeMessage {
  const subject = `Your address now belongs to another account on ${service}`;
  const opening = `Somebody who proved this address by mail, and signed with a passkey, registered it on ${service}.`;
  const before = 'The account that had the address before keeps its passkey, but no longer the address.';
  const advice = `If that was not you, check who can read your mail, and write to those who run ${service}.`;
  return {
    subject,
    text: `${[opening, before, advice].join('\n\n')}\n`,
    html: page({ subject, opening: `${opening} ${before}`, link: '', advice, pass: undefined }),
  };
}

/** Of the pass below a code. */
const PASS_ADVICE =
  'No luck with this code? For 24 hours, this link lets the device that opens it ask for another one:';

/** The settings of every mail. */
export interface MailSettings {
  readonly emailFrom?: string | undefined;
  readonly baseUrl: string;
}

/** What makes a code's mail for a provider. Throws without `EMAIL_FROM`. */
export function mailOf(
  provider: string,
  { emailFrom: from, baseUrl }: MailSettings,
): (notice: Omit<CodeNotice, 'service'> & { readonly to: string; readonly messageId?: string }) => Mail {
  if (from === undefined) throw new Error(`EMAIL_PROVIDER=${provider} needs EMAIL_FROM`);
  const { host: service, hostname } = new URL(baseUrl);
  const compose = createComposer(service);
  return (notice) => {
    const { to, messageId } = notice;
    const { subject, text, html } = compose(notice);
    const mail = { from, to, subject, text, html };
    return messageId === undefined ? mail : { ...mail, messageId: `<${messageId}@${hostname}>` };
  };
}

/** Stand for code and pass in a mail that is kept; no service has them in its name. */
const [CODE, PASS] = ['\ue000', '\ue001'];

/** `codeMessage` for a service. All of a code's mail but code and pass is made once for each lifetime. */
export function createComposer(service: string): (notice: Omit<CodeNotice, 'service'>) => CodeMessage {
  const known = new Map<string, Record<'subject' | 'text' | 'html', readonly string[]>>();
  const keep = (shape: string, notice: Omit<CodeNotice, 'service'>) => {
    const carried = { ...(notice.code && { code: CODE }), ...(notice.pass && { pass: PASS }) };
    const { subject, text, html } = codeMessage({ ...carried, lifetimeSeconds: notice.lifetimeSeconds, service });
    const parts = (whole: string) => whole.split(new RegExp(`(${CODE}|${PASS})`));
    const made = { subject: parts(subject), text: parts(text), html: parts(html) };
    known.set(shape, made);
    return made;
  };
  return (notice) => {
    const { code = '', pass = '', lifetimeSeconds } = notice;
    if (notice.notice !== undefined || notice.recovery !== undefined) return codeMessage({ ...notice, service });
    const shape = `${lifetimeSeconds} ${code !== ''} ${pass !== ''}`;
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

/** The text of the SMS; with a code it ends in the origin-bound line if that fits one segment. */
export function smsText(notice: CodeNotice): string {
  const { code, pass = '', service } = notice;
  if (notice.notice !== undefined)
    return `Another account on ${service} has taken this number over. Was it not you? Write to those who run it.`;
  if (code === undefined) return `To get a code for ${service}, open this and ask again: ${pass}`;
  const text = `${code} ${isFor(notice)} Nobody will ask you for it.`;
  const bound = [text, ...boundLine(code, service)].join('\n\n');
  return bound.length <= SMS_CHARS_MAX ? bound : text;
}

/** A lifetime in words: "90 seconds", "1 minute", "10 minutes". */
function lifetime(seconds: number): string {
  const [count, unit] = seconds % 60 === 0 ? [seconds / 60, 'minute'] : [seconds, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function isFor({ service, lifetimeSeconds }: CodeNotice): string {
  return `is your code for ${service}. It works for ${lifetime(lifetimeSeconds)}.`;
}

function advice({ service }: CodeNotice): string {
  return `Nobody from ${service} will ever ask you for it. If you did not request it, ignore this message.`;
}

/**
 * The format binds to `https://<domain>` on its default port, so an IP address, a bare name or a port gets no such
 * line.
 */
function boundLine(code: string, service: string): string[] {
  return /^([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(service) ? [`@${service} #${code}`] : [];
}
