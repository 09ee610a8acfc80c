// The page on which people sign up for an app, or sign in: address, code, passkey, and back to the app with a code.
import { createCall } from '../../client/vault/call.ts';
import { hasPasskeys } from '../../client/vault/passkeys.ts';
import { createVaultInfo } from '../../client/vault/vault-info.ts';
import { inLanguages, loadWords, word } from '../words/words.ts';
import { type Evidence, type PageConfig, readPageConfig, requestCancel, requestCode, signForApp } from './api.ts';
import { faultOfLink, showFault } from './fault.ts';
import { guardPresses } from './guard.ts';
import { type Answer, type AppLink, answerApp, parseLink } from './link.ts';
import { forgetDevice, isKnownHere, isSameRequest, mayLead, noteKnown, noteRequest, openTabMemory } from './memory.ts';
import { problemOf, refusalOf, showProblem, showUnreached, soonOf } from './problem.ts';
import { type Address, askStart, askWithout, noteScopes, type StartOptions } from './screens.ts';
import { askPress, InsteadError, type SignUp, signUp } from './sign-up.ts';
import { element, offerCancel, onPress, say, show, step, toggle, write } from './view.ts';
import { problemText } from './words.ts';

/** The link, what the vault says, and the app as people know it: by the host that they go back to. */
interface Place {
  readonly link: AppLink;
  readonly config: PageConfig;
  readonly app: string;
}

const memory = openTabMemory();
const STEPS = ['step-address', 'step-passkey', 'step-account', 'step-back'];

async function open(): Promise<void> {
  show('loading');
  const fault = faultOfLink();
  if (fault !== undefined) return showFault(fault, load);
  const link = parseLink(location.search);
  // What goes wrong is said in the person's language.
  const [read, hasWords] = await Promise.all([
    link && readAllowed(link),
    loadWords('authorize', link?.clientId, link?.openId?.language),
  ]);
  if (!hasWords) return showUnreached(load);
  if (read && 'error' in read) throw read.error;
  if (!link || !read) return showProblem('link', {}, []);
  const { config } = read;
  // Passkeys work, and the vault takes their signatures, at one origin.
  if (location.origin !== config.issuer) {
    if (!mayLead()) return showProblem('unexpected', {}, []);
    return location.replace(config.issuer + location.pathname + location.search);
  }
  noteScopes(link.openId?.scopes);
  const place = { link, config, app: new URL(link.redirectUri).host };
  const { app } = place;
  write('app', app);
  document.title = word('title', { app });
  element('cancel').replaceChildren(...inLanguages(word('cancel', { app })));
  onPress('cancel', () => leave(place, { error: 'access_denied' }));
  const wayBack = (error: 'access_denied' | 'invalid_request') => [
    { name: word('back', { app }), act: () => leave(place, { error }) },
  ];
  if (!link.isComplete || channelsOf(place).length === 0)
    return showProblem('request', { app }, wayBack('invalid_request'));
  if (!hasPasskeys()) return showProblem('passkeys_unavailable', { app }, wayBack('access_denied'));
  if (link.isPopup) guardPresses();
  offerCancel(true);
  const before = isSameRequest(link, memory) ? begun() : undefined;
  if (before) return run(place, () => begin(place, before));
  start(place);
}

/** The settings, or why they could not be read; undefined for an app and a URI that do not belong together. */
async function readAllowed(link: AppLink): Promise<{ config: PageConfig } | { error: unknown } | undefined> {
  try {
    return { config: await readPageConfig(link) };
  } catch (error) {
    return [400, 403].includes(refusalOf(error)?.status ?? 0) ? undefined : { error };
  }
}

/** The channels that the app asks for, of those that the vault has. */
function channelsOf({ link: { channel }, config: { channels } }: Place): PageConfig['channels'] {
  return channels.filter((one) => channel === undefined || one === channel);
}

/** The address of a sign-up that this link began in this tab. */
function begun(): Address | undefined {
  const { identifier, channel, sent, attestation, request } = memory.read() ?? {};
  if (identifier === undefined || channel === undefined || channel === 'handle') return undefined;
  return sent || attestation || request ? { identifier, channel } : undefined;
}

/** The first screen. */
function start(place: Place, more: Partial<StartOptions> = {}): void {
  const { link, config, app } = place;
  const { full } = config;
  const notice = full ? problemText(full.error, { soon: soonOf(full.retry_after ?? undefined) }).join('. ') : undefined;
  const channels = full ? [] : channelsOf(place);
  const asked = {
    app,
    channels,
    wanted: link.channel,
    isKnown: isKnownHere() && !link.openId?.isSignUp,
    hint: link.loginHint,
    notice,
    ...more,
  };
  run(place, async () => {
    const chosen = await askStart(asked);
    if (chosen === 'forget') {
      memory.forget();
      await forgetDevice();
      start(place);
    } else await (chosen === 'sign-in' ? signIn(place) : begin(place, chosen));
  });
}

/** Runs a part of the way; what it throws becomes words, with a way on. */
function run(place: Place, act: () => Promise<void>): void {
  act().catch((error: unknown) => {
    const { app } = place;
    if (error instanceof InsteadError) {
      if (error.way === 'other-address') {
        memory.forget();
        element<HTMLInputElement>('address').value = '';
        return start(place);
      }
      // A recovery takes days: the app's link is for another visit.
      if (error.way === 'recover') return location.assign(`/account?app=${place.link.clientId}#recover`);
      return run(place, () => signIn(place));
    }
    const said = refusalOf(error)?.error ?? '';
    if (said === 'passkey_refused') return start(place, { notice: word('passkey.refused') });
    if (said.startsWith('Invalid identifier')) {
      memory.forget();
      const channels = channelsOf(place);
      const kind = channels.length > 1 ? 'both' : channels[0] === 'sms' ? 'phone' : 'email';
      return start(place, { fault: word(`start.fault_${kind}`) });
    }
    const { id, values, detail } = problemOf(error);
    const again = { name: word('retry'), act: () => run(place, act) };
    const over = { name: word('start_over'), act: () => start(place) };
    const isOver = STARTS_OVER.test(id) || (refusalOf(error)?.retryAfter ?? 0) > SOON_SECONDS;
    showProblem(id, { app, ...values }, isOver ? [over] : [again, over], detail);
  });
}

/** Somebody who has to wait longer may use another address. */
const SOON_SECONDS = 60;
/** Problems that trying the same again does not mend. */
const STARTS_OVER =
  /^(?:attestation_|identifier_(?:reserved|taken)|credential_|did_taken|not_found|not_offered|passkey|proof_invalid\.(?:account|did)|registration_|invite_|mail_)/;

async function begin(place: Place, address: Address): Promise<void> {
  const { link, config, app } = place;
  noteRequest(link);
  const call = callFor(link);
  const registrar = { call, memory, info: createVaultInfo(call), url: location.origin };
  const { rpId, moveHours, recovers } = config;
  const person: SignUp = {
    ...{ address, app, rpId, moveHours, recovers, wanted: link.channel, invite: link.invite },
    language: document.documentElement.lang,
    onProgress: showProgress(place),
  };
  const { evidence, movesAt } = await signUp(registrar, person);
  if (movesAt !== undefined) {
    await askWithout(app, movesAt);
    showProgress(place)('account');
  }
  const answer = await codeFor(place, evidence).catch(async (error: unknown) => {
    const { status, reason } = refusalOf(error) ?? {};
    if ((status !== 403 && status !== 404) || reason === 'account' || reason === 'did') throw error;
    // The attestation has ended, or was used for a code that got lost: the passkey shows the same.
    await askPress(person, { isMade: true });
    const signed = await signForApp(config, link, [evidence.credentialId]);
    showProgress(place)('account');
    return codeFor(place, signed);
  });
  leave(place, answer);
}

function callFor({ clientId: app }: AppLink) {
  return createCall({ url: location.origin, app });
}

async function signIn(place: Place): Promise<void> {
  const { config, link, app } = place;
  const evidence: Evidence = await signForApp(config, link);
  const { credentialId } = evidence;
  // The vault has the last word: where it does not say, the person goes on.
  const found = await callFor(link)('GET /api/dids/lookup', { credentialId }).catch(() => undefined);
  if (found?.moves_at) await askWithout(app, found.moves_at);
  say({ 'progress-title': 'progress.sign_in' });
  say({ 'step-passkey': 'step.signed', 'step-account': 'step.known', 'step-back': 'step.back' }, { app });
  toggle('step-address', false);
  show('progress');
  step(STEPS, 'step-account');
  leave(place, await codeFor(place, evidence));
}

/** A code; after Cancel none is asked for any more. */
function codeFor({ link }: Place, evidence: Evidence): Promise<Answer> {
  return isLeft ? new Promise(() => undefined) : requestCode(link, evidence);
}

function showProgress({ app }: Place): (at: 'passkey' | 'account') => void {
  return (at) => {
    say({ 'progress-title': 'progress.title', 'step-address': 'step.address', 'step-passkey': 'step.passkey' });
    say({ 'step-account': 'step.account', 'step-back': 'step.back' }, { app });
    show('progress');
    step(STEPS, `step-${at}`);
  };
}

let isLeft = false;

/** Goes back to the app with the answer: one, whatever else is under way. */
async function leave({ link, config, app }: Place, given: Answer): Promise<void> {
  if (isLeft) return;
  isLeft = true;
  offerCancel(false);
  if (!('error' in given)) {
    noteKnown();
    step(STEPS, 'step-back');
  } else show('loading');
  memory.forget();
  const answer = link.openId && 'error' in given ? await requestCancel(link) : given;
  if (!answer) return showUnreached(() => location.reload());
  if ((await answerApp(link, answer, config.issuer)) === 'leaving') return;
  // Shown where the browser does not let the page close its window.
  say({ 'done-title': 'done.title', 'done-words': 'done.words', 'done-go': 'done.go' }, { app });
  onPress('done-go', () => window.close());
  show('done');
}

/** Opens the page, again after a failure. */
function load(): void {
  open().catch((error: unknown) => {
    const { id, values, detail } = problemOf(error);
    showProblem(id, values, [{ name: word('retry'), act: load }], detail);
  });
}

// A page that comes back from the browser's memory is over.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
load();
