import type { MailPart } from './message-page.ts';

/** The contents of a mail about a recovery. */
export interface RecoveryNews {
  readonly kind: 'started' | 'running' | 'ended' | 'contact';
  /** How it ended: one of `ENDS`. */
  readonly status: string;
  /** 0x-hex. */
  readonly account: string;
  /** When the new passkey becomes a key of the account, ISO 8601. */
  readonly readyAt: string | null;
  /** Leads an owner to the veto. */
  readonly link: string;
}

/** Writes a text of the catalogue `mail` in the language of a mail. */
export type Say = (id: string, values?: Readonly<Record<string, string>>) => string;

/** The subject and the sentences of a mail. */
export interface Letter {
  readonly subject: string;
  readonly parts: readonly MailPart[];
}

/** `upgraded` and `stalled` have failed after the account took the proposal. */
const ENDS = ['finished', 'vetoed', 'cancelled', 'lapsed', 'failed', 'upgraded', 'stalled'];

/** The mail about a recovery, to the address that may recover the account and to its owner's second one. */
export function recoveryLetter(news: RecoveryNews, say: Say, language: string): Letter {
  const { kind, status, account, link } = news;
  const isPending = kind === 'started' || kind === 'running';
  const subject = kind === 'ended' ? (ENDS.find((one) => one === status) ?? 'cancelled') : kind;
  const after = kind === 'contact' ? 'contact' : 'ended';
  const advice = isPending ? [whenText(news, say, language), say('pending.advice')] : [say(`${after}.advice`)];
  const sentences = [say(`${subject}.what`, { account }), ...advice];
  return {
    subject: say(`${subject}.subject`),
    parts: [
      ...sentences.map((text) => ({ kind: 'text', text }) as const),
      { kind: 'link', text: link },
      { kind: 'quiet', text: say(isPending ? 'pending.wait' : `${after}.closing`) },
    ],
  };
}

function whenText({ readyAt }: RecoveryNews, say: Say, language: string): string {
  return readyAt === null ? say('pending.soon') : say('pending.when', { time: timeText(readyAt, language) });
}

/** A time in words: "22 November 2026 at 07:30 UTC". */
export function timeText(iso: string, language: string): string {
  const locale = language === 'en' ? 'en-GB' : language;
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(new Date(iso))} UTC`;
}
