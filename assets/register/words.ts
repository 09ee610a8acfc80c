// The words of this page, by id. The English sentences are the ids of the catalogues (`assets/words/`).
import { word } from '../words/words.ts';

const WORDS = {
  title: 'Sign up · {app}',
  loading: 'One moment…',
  'start.title': 'Continue to {app}',
  'start.known': 'Welcome back',
  'start.email': 'Email address',
  'start.phone': 'Phone number',
  'start.both': 'Email address or phone number',
  'start.go': 'Send code',
  'start.or': 'Been here before?',
  'start.or_other': 'New here, or without your passkey?',
  'start.sign_in': 'Sign in with a passkey',
  'start.forget': 'Forget who was here',
  gives: '{app} gets {what}, and the public address of your account, the same for every app here.',
  'gives.address': 'this address',
  'gives.all': 'the addresses and names that you register here',
  'gives.email': 'the email addresses that you register here',
  'gives.sms': 'the phone numbers that you register here',
  'start.fault_email': 'Enter an email address, such as name@example.com.',
  'start.fault_phone': 'Enter a phone number with its country code, such as +49 151 12345678.',
  'start.fault_both': 'Enter an email address, or a phone number with its country code, such as +49 151 12345678.',
  'code.title': 'Enter the code',
  'code.words': 'We sent six digits to {address}. The sixth one continues.',
  'code.label': 'Code',
  'code.go': 'Continue',
  'code.left': 'Good for {time}',
  'code.ended': 'This code has ended. Send a new one.',
  'code.again': 'Send a new code',
  'code.again_in': 'Send a new code in {time}',
  'code.other': 'Use another address',
  'code.fault_form': 'The code has six digits.',
  'code.fault_wrong': 'This code is not right. Look again, or send a new one.',
  'code.fault_ended': 'This code has ended. We sent a new one.',
  'code.fault_tries': 'Too many tries with this code. We sent a new one.',
  'passkey.title': 'Create your passkey',
  'passkey.for': 'For {address}, to continue to {app}.',
  'passkey.go': 'Create passkey',
  'passkey.resume_title': 'Use your passkey',
  'passkey.resume_go': 'Use passkey',
  'passkey.taken_title': 'You have been here before',
  'passkey.taken_go': 'Create a new passkey',
  'passkey.what': 'What is a passkey?',
  'passkey.refused': 'No passkey was used. You can try again.',
  'progress.title': 'Setting up your account',
  'progress.sign_in': 'Signing you in',
  'step.address': 'Address confirmed',
  'step.passkey': 'Passkey created',
  'step.signed': 'Passkey used',
  'step.account': 'Account registered',
  'step.known': 'Account found',
  'step.back': 'Back to {app}',
  'done.title': 'You can go back',
  'done.words': '{app} has its answer. This window can be closed.',
  'done.go': 'Close',
  cancel: 'Cancel and go back to {app}',
  back: 'Go back to {app}',
  retry: 'Try again',
  start_over: 'Start again',
  details: 'Details',
  soon: 'Wait a little, then try again.',
  minute: 'Try again in a minute.',
  minutes: 'Try again in {count} minutes.',
  hours: 'Try again in about {count} hours.',
  days: 'Try again in about {count} days.',
} as const;

/** Long texts, by their ids in the catalogues. They explain what a page without words says by its buttons alone. */
export const EXPLANATIONS = ['passkey.words', 'passkey.resume_words', 'passkey.taken_words', 'passkey.about'] as const;

/** A word's id. */
export type WordId = keyof typeof WORDS | (typeof EXPLANATIONS)[number];

/** A text of the page in the person's language, its places filled. */
export function text(id: WordId, values: Readonly<Record<string, string | number>> = {}): string {
  const written = (WORDS as Readonly<Record<string, string>>)[id];
  const found = word(written ?? id, isolated(values));
  return found === id ? '' : found;
}

/** In a text from right to left, addresses and names keep the direction of their own (Unicode UAX 9 section 2.4). */
function isolated(values: Readonly<Record<string, string | number>>): Readonly<Record<string, string | number>> {
  if (globalThis.document?.documentElement.dir !== 'rtl') return values;
  const isolate = (value: string | number) => (typeof value === 'string' ? `\u2068${value}\u2069` : value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isolate(value)]));
}

/**
 * What went wrong, by the word of the vault, the client or this page: the id in the catalogues, of a title
 * (`away.title`) and a text (`away.text`).
 */
export const PROBLEMS: Readonly<Record<string, string>> = {
  rate_limited: 'tries',
  ip_limit_reached: 'full',
  relay_limit_reached: 'today',
  email_send_failed: 'mail',
  sms_send_failed: 'sms',
  sms_provider_error: 'check',
  attestation_expired: 'slow',
  attestation_used: 'spent',
  identifier_reserved: 'reserved',
  mail_domain_refused: 'reserved',
  registration_closed: 'closed',
  invite_required: 'invite',
  invite_invalid: 'invite',
  identifier_taken: 'taken',
  identifier_busy: 'busy',
  idempotency_key_in_use: 'busy',
  credential_already_registered: 'registered',
  did_taken: 'there',
  registration_failed: 'failed',
  relay_unfunded: 'operator',
  registry_missing: 'operator',
  rpc_error: 'network',
  not_confirmed_yet: 'network',
  database_unavailable: 'away',
  shutting_down: 'away',
  unreachable: 'offline',
  not_found: 'unknown',
  not_offered: 'offered',
  rp_id_refused: 'browser',
  passkeys_unavailable: 'browser',
  passkey_unsupported: 'device',
  'proof_invalid.account': 'removed',
  'proof_invalid.did': 'moved',
  'proof_invalid.used': 'again',
  'proof_invalid.expired': 'clock',
  'proof_invalid.expires_too_late': 'clock',
  proof_invalid: 'signature',
  link: 'link',
  request: 'request',
  unexpected: 'unexpected',
};

/** Title and text of a problem; without its words at least that there is one. */
export function problemText(id: string, values: Readonly<Record<string, string>>): readonly [string, string] {
  const name = PROBLEMS[id] ?? 'unexpected';
  const [title, sentence] = [word(`${name}.title`), word(`${name}.text`, isolated(values))];
  return title.endsWith('.title') ? [word('Something went wrong'), ''] : [title, sentence];
}
