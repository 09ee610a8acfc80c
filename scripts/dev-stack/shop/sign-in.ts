// Signing up by a code and a passkey, and signing in by the passkey alone.
import type { CodeRequest, RegisterStep, Registration, SignedIn, VaultClient } from '../../../client/vault/index.ts';
import type { Person } from './memory.ts';
import { beginIn, busy, element, fault, field, onCode, onPress, onSubmit, show, step, toggle, write } from './view.ts';
import { left, signUpWords } from './words.ts';

const STEPS = ['step-code', 'step-passkey', 'step-proof', 'step-record'] as const;
/** The step that begins; the ones before it are done. */
const BEGINS: Readonly<Partial<Record<RegisterStep, string>>> = {
  passkey: 'step-passkey',
  operation: 'step-passkey',
  proof: 'step-proof',
  record: 'step-record',
};
const DIGITS = 6;

const ADDRESS = 'Enter an email address, or a number that starts with + and the country.';

/** Shows the first screen, and goes on with `done` once somebody is signed in. */
export function askWho(vault: VaultClient, done: (person: Person) => void, notice?: string): void {
  const pending = vault.pending()?.identifier;
  const begun = pending && 'You began to sign up here. Send the address again, and you go on there.';
  write('start-notice', notice === undefined ? begun : notice || undefined);
  fault('who', undefined);
  if (pending !== undefined) field('who').value = pending;
  // A passkey that was made here and is lost would hold the address back.
  toggle('start-over', pending !== undefined);
  onPress('start-over', () => {
    vault.forget();
    field('who').value = '';
    askWho(vault, done);
  });
  show('start');
  beginIn('who');
  const arrive = ({ did, smartAccount, credentialId, pubKeyX, pubKeyY }: Registration | SignedIn) => {
    if (smartAccount === null) throw new Error('this DID has no account');
    done({ did, account: smartAccount, credentialId, pubKeyX, pubKeyY });
  };
  onSubmit('who-form', () => {
    const text = field('who').value.trim();
    const isAddress = /[@\d]/.test(text);
    fault('who', isAddress ? undefined : ADDRESS);
    if (isAddress) busy('who-go', () => signUp(vault, text)).then(arrive, (error) => fail(vault, done, error));
  });
  onPress('sign-in', () => {
    busy('sign-in', () => vault.signIn()).then(arrive, (error) => askWho(vault, done, signUpWords(error)));
  });
}

/** Leads back to the first screen: to the field, where the address is the fault. */
function fail(vault: VaultClient, done: (person: Person) => void, thrown: unknown): void {
  const { error, status, hint } = thrown as { error?: string; status?: number; hint?: string };
  const isAddress = status === 400;
  askWho(vault, done, isAddress || error === 'cancelled' ? '' : signUpWords(thrown));
  if (isAddress) fault('who', hint ?? ADDRESS);
}

function signUp(vault: VaultClient, text: string) {
  const address = text.includes('@') ? { email: text } : { phone: text };
  const onStep = (name: RegisterStep) => {
    const begins = BEGINS[name];
    if (begins === undefined) return;
    if (element('working').hidden) show('working');
    step(STEPS, begins);
  };
  return vault.register({ ...address, onStep, askCode });
}

/** Asks the person for the code; an empty answer has another one sent, null gives this address up. */
function askCode({ identifier, endsAt, nextAt, problem, attemptsRemaining }: CodeRequest): Promise<string | null> {
  write('code-words', `We sent six digits to ${identifier}.`);
  toggle('code-inbox', Boolean(document.documentElement.dataset['inbox']));
  const digits = field('digits');
  digits.value = '';
  fault('digits', undefined);
  show('code');
  beginIn('digits', true);
  if (problem !== undefined) fault('digits', faultOf(problem, attemptsRemaining));
  const stopClock = startClock(endsAt, nextAt);
  return new Promise<string | null>((resolve) => {
    const answer = (text: string) => {
      element<HTMLButtonElement>('digits-go').disabled = true;
      resolve(text);
    };
    element<HTMLButtonElement>('digits-go').disabled = false;
    onCode('digits', answer);
    onSubmit('code-form', () => {
      if (digits.value.length === DIGITS) answer(digits.value);
      else fault('digits', 'The code has six digits.');
    });
    onPress('code-again', () => answer(''));
    onPress('code-other', () => resolve(null));
  }).finally(stopClock);
}

function faultOf(problem: string, attemptsRemaining: number | undefined): string {
  if (problem === 'Too soon') return 'Another code can be sent later, as the button below says.';
  if (problem !== 'Incorrect code') return 'That code does not work any more. We sent another one.';
  const tries = attemptsRemaining === 1 ? 'one try is' : `${attemptsRemaining ?? 'some'} tries are`;
  return `That is not the code. ${tries[0]?.toUpperCase()}${tries.slice(1)} left.`;
}

/** Counts down how long the code works, and until another one can be sent. */
function startClock(endsAt: number, nextAt: number): () => void {
  const tick = () => {
    const [works, waits] = [endsAt - Date.now(), nextAt - Date.now()];
    write('code-left', works > 0 ? `It works for ${left(works)}.` : 'It has ended: send another one.');
    element<HTMLButtonElement>('code-again').disabled = waits > 0;
    write('code-again', waits > 0 ? `Send another code in ${left(waits)}` : 'Send another code');
  };
  tick();
  const timer = setInterval(tick, 1_000);
  return () => clearInterval(timer);
}
