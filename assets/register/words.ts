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
  'start.hint': '{app} gets this address and the name of your account, and nothing else.',
  'start.hint_known':
    '{app} gets the name of your account and the addresses that you registered with the passkey, and nothing else.',
  'start.fault_email': 'Enter an email address, such as name@example.com.',
  'start.fault_phone': 'Enter a phone number with its country code, such as +49 151 12345678.',
  'start.fault_both': 'Enter an email address, or a phone number with its country code, such as +49 151 12345678.',
  'code.title': 'Enter the code',
  'code.words': 'We sent six digits to {address}.',
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
  'passkey.words':
    'It takes the place of a password. Your device asks for your fingerprint, face or PIN twice: to make the passkey, and to register with it.',
  'passkey.go': 'Create passkey',
  'passkey.resume_title': 'Use your passkey',
  'passkey.resume_words': 'Your passkey is made. Your device asks for it once more, to register with it.',
  'passkey.resume_go': 'Use passkey',
  'passkey.taken_title': 'You have been here before',
  'passkey.taken_words':
    '{address} is registered with a passkey already. Sign in with it. If you lost it, create a new one: the address then moves to a new account.',
  'passkey.taken_go': 'Create a new passkey',
  'passkey.what': 'What is a passkey?',
  'passkey.about':
    'A key that your phone, computer or password manager keeps for you. You unlock it with your fingerprint, face or PIN. It works on {host} only and is never sent to us.',
  'passkey.refused': 'No passkey was used. Nothing has changed.',
  'progress.title': 'Setting up your account',
  'progress.sign_in': 'Signing you in',
  'step.address': 'Address confirmed',
  'step.passkey': 'Passkey created',
  'step.signed': 'Passkey used',
  'step.account': 'Account registered',
  'step.known': 'Account found',
  'step.back': 'Back to {app}',
  'done.title': 'You can go back',
  'done.words': 'You are signed in at {app}. This window can be closed.',
  'done.words_cancelled': 'Nothing was sent to {app}. This window can be closed.',
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
} as const;

/** A word's id. */
export type WordId = keyof typeof WORDS;

/** A text of the page in the person's language, its places filled. */
export function text(id: WordId, values: Readonly<Record<string, string | number>> = {}): string {
  return word(WORDS[id], values);
}

/** What went wrong: title and text, by the vault's word or the client's. */
export const PROBLEMS: Readonly<Record<string, readonly [string, string]>> = {
  rate_limited: ['Too many tries', '{soon}'],
  ip_limit_reached: ['Too many new accounts from here', '{soon}'],
  relay_limit_reached: ['No more accounts today', '{soon}'],
  email_send_failed: ['The mail could not be sent', 'Check the address, then try again.'],
  sms_send_failed: ['The text message could not be sent', 'Check the number, then try again.'],
  sms_provider_error: ['The code could not be checked', 'Nothing is wrong with your code. Try again.'],
  attestation_expired: ['That took too long', 'Start again. Your passkey is kept.'],
  attestation_used: ['The code was used already', 'Start again. Your passkey is kept.'],
  identifier_reserved: ['This address cannot be registered', 'Start again with another one.'],
  identifier_taken: ['This address belongs to another account', 'Sign in with its passkey, or use another address.'],
  identifier_busy: ['This address is being registered', 'Perhaps in another window. {soon}'],
  credential_already_registered: ['This passkey is registered already', 'Start again and sign in with it.'],
  did_taken: ['This account is registered already', 'Start again and sign in with your passkey.'],
  registration_failed: ['The network refused the account', 'Start again. If it stays so, write to the operator.'],
  relay_unfunded: ['No accounts can be made at the moment', 'The operator of this vault has to see to it. Try later.'],
  registry_missing: [
    'No accounts can be made at the moment',
    'The operator of this vault has to see to it. Try later.',
  ],
  rpc_error: ['The network does not answer', 'Nothing was lost. Try again in a moment.'],
  database_unavailable: ['The vault cannot be reached', 'Nothing was lost. Try again in a moment.'],
  shutting_down: ['The vault cannot be reached', 'Nothing was lost. Try again in a moment.'],
  unreachable: ['The vault cannot be reached', 'Check your connection, then try again.'],
  not_found: [
    'This passkey has no account here',
    'It belongs to another place, or its registration is not finished. Start again with your address.',
  ],
  not_offered: ['Sign-up is not offered here', 'The operator of this vault has not set it up. Go back to the app.'],
  rp_id_refused: [
    'This browser cannot use passkeys here',
    'Open the link in another browser, and not inside another app.',
  ],
  'proof_invalid.account': ['This passkey was removed', 'It does not open its account any more. Use another passkey.'],
  'proof_invalid.did': ['This account was closed or moved', 'Sign in with the passkey of the account that has it now.'],
  'proof_invalid.used': ['This was used already', 'Try again, and use your passkey once more.'],
  'proof_invalid.expired': ['The clock of this device is off', 'Set it right, then try again.'],
  'proof_invalid.expires_too_late': ['The clock of this device is off', 'Set it right, then try again.'],
  proof_invalid: ['The passkey’s signature was not accepted', 'Try again. If it stays so, use another browser.'],
  link: [
    'This link does not work',
    'The app that sent you here is not known to this vault, or its link is wrong. Nothing was sent to it. Go back and tell the app.',
  ],
  request: ['The app’s link is incomplete', 'Nothing was sent to {app}. Go back and tell the app.'],
  unexpected: ['Something went wrong', 'Load this page again. It goes on where you were.'],
};
