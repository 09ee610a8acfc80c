import { type CodeMessage, textMail } from './message-page.ts';

/** What a mail about a recovery says. */
export interface RecoveryNews {
  readonly kind: 'started' | 'running' | 'ended' | 'contact';
  /** How it ended: `finished`, `vetoed`, `cancelled`, `lapsed`, `failed`. */
  readonly status: string;
  /** 0x-hex. */
  readonly account: string;
  /** When the new passkey becomes a key of the account, ISO 8601. */
  readonly readyAt: string | null;
  /** Leads an owner to the veto. */
  readonly link: string;
}

/** The mail about a recovery, to the address that may recover the account and to its owner's second one. */
export function recoveryMessage(news: RecoveryNews, service: string): CodeMessage {
  if (news.kind === 'contact') return former(news, service);
  return news.kind === 'ended' ? ended(news, service) : pending(news, service);
}

/** To an address that is an owner's second one no more. */
function former({ account, link }: RecoveryNews, service: string): CodeMessage {
  const opening = `This address gets no more mails about recoveries of the account ${account} on ${service}.`;
  const advice = 'A key of the account changed that. If it was not you, look at the keys of your account:';
  const closing = `If the account is not yours, there is nothing to do.`;
  return textMail({
    subject: `No more mails about an account on ${service}`,
    paragraphs: [opening, advice],
    link,
    closing,
  });
}

function pending({ kind, account, readyAt, link }: RecoveryNews, service: string): CodeMessage {
  const subject =
    kind === 'started'
      ? `Somebody is recovering your account on ${service}`
      : `Your account on ${service} is being recovered`;
  const opening =
    kind === 'started'
      ? `Somebody who can read this address asked ${service} for a new passkey for your account ${account}.`
      : `The recovery of your account ${account} on ${service} is still under way.`;
  const when = `From ${timeText(readyAt)} on the new passkey can use the account, unless you stop it.`;
  const advice = 'If that is not you, open this link with a passkey that you have, and press "Stop it":';
  const closing = 'If it is you, there is nothing to do but wait.';
  return textMail({ subject, paragraphs: [opening, when, advice], link, closing });
}

function ended({ status, account, link }: RecoveryNews, service: string): CodeMessage {
  const { subject, words } = ENDS[status] ?? ENDS['cancelled'] ?? { subject: '', words: '' };
  const paragraphs = [`${words} It is the account ${account} on ${service}.`];
  const advice = 'Look at the keys of your account, and remove those that you do not hold:';
  const closing = `If you do not understand this message, write to those who run ${service}.`;
  return textMail({ subject: `${subject} on ${service}`, paragraphs: [...paragraphs, advice], link, closing });
}

const ENDS: Readonly<Record<string, { readonly subject: string; readonly words: string }>> = {
  finished: {
    subject: 'Your account has a new passkey',
    words: 'The recovery is over: the new passkey is now a key of your account.',
  },
  vetoed: {
    subject: 'The recovery of your account was stopped',
    words: 'One of the keys of your account stopped the recovery: no key was added.',
  },
  cancelled: {
    subject: 'The recovery of your account was withdrawn',
    words: 'The recovery of your account was withdrawn: no key was added.',
  },
  lapsed: {
    subject: 'The recovery of your account has lapsed',
    words: 'Nobody finished the recovery of your account in time: no key was added.',
  },
  failed: {
    subject: 'The recovery of your account was not started',
    words: 'Somebody asked for a recovery of your account, but the account refused it: no key was added.',
  },
};

/** A time in words: "22 November 2026, 07:30 UTC". */
function timeText(iso: string | null): string {
  if (iso === null) return 'some days from now';
  const [date = '', time = ''] = iso.split('T');
  const [year = '', month = '1', day = '1'] = date.split('-');
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}, ${time.slice(0, 5)} UTC`;
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
