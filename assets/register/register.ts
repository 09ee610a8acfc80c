// The page on which people sign up for an app, or sign in: address, code, passkey, and back to the app with a code.
import { createCall } from '../../client/vault/call.ts';
import { createKnown } from '../../client/vault/known.ts';
import { loadWords } from '../words/words.ts';
import { type Evidence, type PageConfig, readPageConfig, requestCode, signForApp } from './api.ts';
import { type Answer, type AppLink, answerApp, parseLink } from './link.ts';
import { isKnownHere, isSameRequest, noteKnown, noteRequest, openTabMemory } from './memory.ts';
import { problemOf, refusalOf, showProblem } from './problem.ts';
import { type Address, askStart, type StartOptions } from './screens.ts';
import { InsteadError, signUp } from './sign-up.ts';
import { element, offerCancel, onPress, say, show, step, toggle, write } from './view.ts';
import { text } from './words.ts';

/** The link, what the vault says, and the app as people know it: by the host that they go back to. */
interface Place {
  readonly link: AppLink;
  readonly config: PageConfig;
  readonly app: string;
}

const memory = openTabMemory();
const STEPS = ['step-address', 'step-passkey', 'step-account', 'step-back'];

async function open(): Promise<void> {
  const link = parseLink(location.search);
  const [config] = await Promise.all([link && readAllowed(link), loadWords('register', link?.clientId)]);
  if (!link || !config) return showProblem('link', {}, []);
  // Passkeys work, and the vault takes their signatures, at one origin.
  if (location.origin !== config.issuer) return location.replace(config.issuer + location.pathname + location.search);
  const place = { link, config, app: new URL(link.redirectUri).host };
  const { app } = place;
  write('app', app);
  document.title = text('title', { app });
  element('cancel').textContent = text('cancel', { app });
  onPress('cancel', () => leave(place, { error: 'access_denied' }));
  const back = { name: text('back', { app }), act: () => leave(place, { error: 'invalid_request' }) };
  if (!link.isComplete) return showProblem('request', { app }, [back]);
  offerCancel(true);
  const before = isSameRequest(link) ? begun() : undefined;
  if (before) return run(place, () => begin(place, before));
  start(place);
}

/** The settings; undefined for an app and a URI that do not belong together. */
function readAllowed(link: AppLink): Promise<PageConfig | undefined> {
  return readPageConfig(link).catch((error) => {
    if (refusalOf(error)?.status === 403) return undefined;
    throw error;
  });
}

/** The address of a sign-up that this link began in this tab. */
function begun(): Address | undefined {
  const { identifier, channel } = memory.read() ?? {};
  return identifier !== undefined && channel !== undefined && channel !== 'handle'
    ? { identifier, channel }
    : undefined;
}

/** The first screen. */
function start(place: Place, more: Partial<StartOptions> = {}): void {
  const { link, config, app } = place;
  const wanted = config.channels.filter((one) => link.channel === undefined || one === link.channel);
  const channels = wanted.length > 0 ? wanted : config.channels;
  const asked = { app, channels, isKnown: isKnownHere(), hint: link.loginHint, ...more };
  run(place, async () => {
    const chosen = await askStart(asked);
    await (chosen === 'sign-in' ? signIn(place) : begin(place, chosen));
  });
}

/** Runs a part of the way; what it throws becomes words, with a way on. */
function run(place: Place, act: () => Promise<void>): void {
  act().catch((error: unknown) => {
    const { app, config } = place;
    if (error instanceof InsteadError) {
      if (error.way === 'other-address') {
        memory.forget();
        element<HTMLInputElement>('address').value = '';
        return start(place);
      }
      return run(place, () => signIn(place));
    }
    const said = refusalOf(error)?.error ?? '';
    if (said === 'passkey_refused') return start(place, { notice: text('passkey.refused') });
    if (said.startsWith('Invalid identifier')) {
      memory.forget();
      const kind = config.channels.length > 1 ? 'both' : config.channels[0] === 'sms' ? 'phone' : 'email';
      return start(place, { fault: text(`start.fault_${kind}`) });
    }
    const { id, values, detail } = problemOf(error);
    const again = { name: text('retry'), act: () => run(place, act) };
    const over = { name: text('start_over'), act: () => start(place) };
    const isOver = STARTS_OVER.test(id) || (refusalOf(error)?.retryAfter ?? 0) > SOON_SECONDS;
    showProblem(id, { app, ...values }, isOver ? [over] : [again, over], detail);
  });
}

/** Who has to wait longer may have another address. */
const SOON_SECONDS = 60;
/** Problems that trying the same again does not mend. */
const STARTS_OVER =
  /^(?:attestation_|identifier_(?:reserved|taken)|credential_|did_taken|not_found|not_offered|proof_invalid\.(?:account|did)|registration_failed)/;

async function begin(place: Place, address: Address): Promise<void> {
  const { link, config } = place;
  noteRequest(link);
  const call = createCall({ url: location.origin, app: link.clientId });
  const registrar = { call, memory, known: createKnown(call), url: location.origin };
  const { rpId } = config;
  const evidence = await signUp(registrar, {
    address,
    rpId,
    language: document.documentElement.lang,
    onProgress: showProgress(place),
  });
  const sign = () => signForApp(config, link, [evidence.credentialId]);
  const code = await requestCode(link, evidence).catch((error: unknown) => {
    // The attestation has ended, or was used for a code that got lost: the passkey shows the same.
    if (refusalOf(error)?.status === 403) return sign().then((by) => requestCode(link, by));
    throw error;
  });
  leave(place, { code });
}

async function signIn(place: Place): Promise<void> {
  const { config, link, app } = place;
  const evidence: Evidence = await signForApp(config, link);
  say({ 'progress-title': 'progress.sign_in' });
  say({ 'step-passkey': 'step.signed', 'step-account': 'step.known', 'step-back': 'step.back' }, { app });
  toggle('step-address', false);
  show('progress');
  step(STEPS, 'step-account');
  leave(place, { code: await requestCode(link, evidence) });
}

function showProgress({ app }: Place): (at: 'passkey' | 'account') => void {
  return (at) => {
    say({ 'progress-title': 'progress.title', 'step-address': 'step.address', 'step-passkey': 'step.passkey' });
    say({ 'step-account': 'step.account', 'step-back': 'step.back' }, { app });
    show('progress');
    step(STEPS, `step-${at}`);
  };
}

/** Goes back to the app with the answer. */
function leave({ link, config, app }: Place, answer: Answer): void {
  const isDone = 'code' in answer;
  offerCancel(false);
  if (isDone) {
    noteKnown();
    step(STEPS, 'step-back');
  }
  memory.forget();
  if (answerApp(link, answer, config.issuer) === 'leaving') return;
  // Shown where the browser does not let the page close its window.
  say({ 'done-title': 'done.title', 'done-go': 'done.go' });
  say({ 'done-words': isDone ? 'done.words' : 'done.words_cancelled' }, { app });
  onPress('done-go', () => window.close());
  show('done');
}

/** Opens the page, again after a failure. */
function load(): void {
  open().catch((error: unknown) => {
    const { id, values, detail } = problemOf(error);
    showProblem(id, values, [{ name: text('retry'), act: load }], detail);
  });
}

// A page that comes back from the browser's memory is over.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
load();
