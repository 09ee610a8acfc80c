import { PURPOSES } from '../base/purpose.ts';
import type { ChallengeNews } from './challenge-message.ts';
import { type CodeNotice, codeMessage, type Letterhead, smsText } from './message.ts';
import type { CodeMessage } from './message-page.ts';
import type { RecoveryNews } from './recovery-message.ts';
import { countSms, type SmsCount } from './sms-text.ts';

/** The messages that a person may get, by name. */
export const MESSAGES = [
  'code.registration',
  'code.recovery',
  'code.credential',
  'pass',
  'taken_over',
  'recovery_started',
  'recovery_running',
  'recovery_finished',
  'recovery_vetoed',
  'recovery_cancelled',
  'recovery_lapsed',
  'recovery_failed',
  'recovery_contact',
  'challenge_begun',
  'challenge_soon',
  'challenge_kept',
  'challenge_released',
  'challenge_replaced',
  'challenge_moved',
  'challenge_failed',
  'passkey_new',
] as const;

/** One of them. */
export type MessageName = (typeof MESSAGES)[number];

/** A message with made-up values, as it would go out. */
export interface Preview {
  readonly mail: CodeMessage;
  /** Null for a message that is sent by mail alone. */
  readonly sms: (SmsCount & { readonly text: string }) | null;
}

/** The values of samples that are not made up. */
export interface SampleOptions {
  /** The address of the pages that messages lead to. */
  readonly links: {
    readonly pass: string;
    readonly smsPass: string;
    readonly account: string;
    readonly smsAccount: string;
  };
  readonly lifetimeSeconds: number;
  /** When a recovery would be ready, an address move, or a passkey be used; ISO 8601. */
  readonly readyAt: string;
}

/** Made up: it is only shown. */
const SAMPLE_CODE = '042137';
const SAMPLE_ADDRESS = 'a***@example.com';
const SAMPLE_ACCOUNT = '0x52908400098527886e0f7030069857d2e4169ee7';

/** The fragment of a pass that lets nobody send. */
export const SAMPLE_PASS = 'sample00-00000000000000000000000000000000';

/** Writes a message with made-up values. */
export function previewMessage(name: MessageName, head: Letterhead, options: SampleOptions): Preview {
  const mail = codeMessage(noticeOf(name, options, options.links.pass), head);
  if (name.startsWith('recovery_') || name === 'passkey_new') return { mail, sms: null };
  // A text message has the code alone, or the pass alone.
  const links = { ...options.links, account: options.links.smsAccount };
  const { pass, ...notice } = noticeOf(name, { ...options, links }, links.smsPass);
  const text = smsText(name === 'pass' ? { ...notice, pass } : notice, head);
  return { mail, sms: { text, ...countSms(text) } };
}

function noticeOf(name: MessageName, { links, lifetimeSeconds, readyAt }: SampleOptions, pass: string): CodeNotice {
  const purpose = PURPOSES.find((one) => name === `code.${one}`);
  if (purpose) return { code: SAMPLE_CODE, pass, purpose, lifetimeSeconds };
  if (name === 'pass') return { pass, lifetimeSeconds };
  if (name === 'taken_over') return { notice: 'taken_over', lifetimeSeconds };
  if (name.startsWith('challenge_')) return { challenge: challengeOf(name, links, readyAt), lifetimeSeconds };
  if (name === 'passkey_new') {
    const passkey = { by: 'signin', account: SAMPLE_ACCOUNT, at: readyAt, link: links.account } as const;
    return { passkey, lifetimeSeconds };
  }
  const status = name.slice('recovery_'.length);
  const kind: RecoveryNews['kind'] =
    status === 'started' || status === 'running' || status === 'contact' ? status : 'ended';
  const link = kind === 'contact' ? links.account : `${links.account}#stop=${SAMPLE_ACCOUNT}`;
  return { recovery: { kind, status, account: SAMPLE_ACCOUNT, readyAt, link }, lifetimeSeconds };
}

function challengeOf(name: MessageName, { account }: SampleOptions['links'], readyAt: string): ChallengeNews {
  const status = name.slice('challenge_'.length) as ChallengeNews['status'];
  const isOpen = status === 'begun' || status === 'soon';
  const link = isOpen ? `${account}#keep=${SAMPLE_PASS}` : account;
  return { status, address: SAMPLE_ADDRESS, movesAt: isOpen ? readyAt : null, link };
}
