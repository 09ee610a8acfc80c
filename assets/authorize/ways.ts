// The ways to an answer for the app: somebody new, somebody whose passkey is known, and an address that is added.
import { createCall } from '../../client/vault/call.ts';
import type { Registrar } from '../../client/vault/registration-run.ts';
import { createVaultInfo } from '../../client/vault/vault-info.ts';
import { word } from '../words/words.ts';
import { type Answer, type Choice, type Evidence, type Picked, signForApp } from './api.ts';
import { askGive, askMore } from './give.ts';
import { codeFor } from './leave.ts';
import { noteRequest, openTabMemory } from './memory.ts';
import type { Place } from './place.ts';
import { refusalOf } from './problem.ts';
import type { Address } from './screens.ts';
import { askPress, InsteadError, type SignUp, signUp } from './sign-up.ts';
import { say, show, step, toggle, write } from './view.ts';

const STEPS = ['step-address', 'step-passkey', 'step-account', 'step-back'];

/** Registers somebody new, from where this tab was. Throws `InsteadError`, and `VaultClientError`. */
export async function begin(place: Place, address: Address, token?: string): Promise<Answer> {
  const { config, link } = place;
  noteRequest(link);
  const person = personAt(place, address, token);
  const { evidence } = await signUp(registrarAt(place), person);
  try {
    return await finish(place, evidence);
  } catch (error) {
    const { status, reason } = refusalOf(error) ?? {};
    if ((status !== 403 && status !== 404) || reason === 'account' || reason === 'did') throw error;
    // The attestation has ended, or was used for a code that got lost: the passkey shows the same.
    await askPress(person, { isMade: true });
    const signed = await signForApp(config, link, [evidence.credentialId]);
    showProgress(place, 'account');
    return finish(place, signed.evidence);
  }
}

/** Signs in with a passkey that is registered. Throws `InsteadError`, and `VaultClientError`. */
export async function signIn(place: Place, sign = () => signForApp(place.config, place.link)): Promise<Answer> {
  const { evidence, accepted } = await sign();
  showProgress(place, 'found');
  const answer = await finish(place, evidence);
  accepted();
  return answer;
}

/** An answer, once the person has said which addresses the app gets, where there is something to say. */
async function finish(place: Place, evidence: Evidence): Promise<Answer> {
  let picked: Picked | undefined;
  for (;;) {
    const answer = await codeFor(place, evidence, picked);
    if ('location' in answer) return answer;
    picked = await choose(place, evidence.credentialId, answer, picked ?? {});
    showProgress(place, 'found');
  }
}

async function choose(place: Place, credentialId: string, choice: Choice, before: Picked): Promise<Picked> {
  const { app, config } = place;
  let picked = before;
  for (;;) {
    const given = await askGive({ app, choice, channels: config.full ? [] : config.channels, picked });
    picked = given.picked;
    if (!given.add) return picked;
    const added = await addAddress(place, credentialId, choice, given.add);
    if (added !== undefined) return { ...picked, [given.add]: added };
  }
}

/** Registers another address for the account that has signed in; undefined where the person goes back. */
async function addAddress(
  place: Place,
  credentialId: string,
  { did, smartAccount, pubKeyX: x, pubKeyY: y }: Choice,
  channel: 'email' | 'sms',
): Promise<string | undefined> {
  const registrar = registrarAt(place);
  noteRequest(place.link);
  for (let wrong: string | undefined; ; ) {
    const address = await askMore(channel, wrong);
    registrar.memory.forget();
    if (!address) return undefined;
    const owner = { address: smartAccount, did };
    registrar.memory.write({ ...address, passkey: { credentialId, x, y, owner } });
    try {
      return (await signUp(registrar, personAt(place, address))).identifier;
    } catch (error) {
      const isWrong = refusalOf(error)?.error.startsWith('Invalid identifier');
      const isOther = error instanceof InsteadError && error.way === 'other-address';
      if (!isWrong && !isOther) throw error;
      wrong = isWrong ? word(channel === 'sms' ? 'start.fault_phone' : 'start.fault_email') : undefined;
    }
  }
}

function registrarAt({ link: { appId: app } }: Place): Registrar {
  const call = createCall({ url: location.origin, app });
  return { call, memory: openTabMemory(), info: createVaultInfo(call), url: location.origin };
}

function personAt(place: Place, address: Address, token?: string): SignUp {
  const { link, config, app } = place;
  const { rpId, moveHours, recovers } = config;
  return {
    ...{ address, token, app, rpId, moveHours, recovers, invite: link.invite },
    language: document.documentElement.lang,
    onProgress: (at) => showProgress(place, at),
  };
}

/** Shows how far it is. `found`: with a passkey and an account that were there. */
function showProgress({ app }: Place, at: 'passkey' | 'account' | 'found'): void {
  const isFound = at === 'found';
  say({ 'progress-title': isFound ? 'progress.sign_in' : 'progress.title', 'step-address': 'step.address' });
  say({ 'step-passkey': isFound ? 'step.signed' : 'step.passkey' });
  say({ 'step-account': isFound ? 'step.known' : 'step.account', 'step-back': 'step.back' }, { app });
  toggle('step-address', !isFound);
  write('progress-words', undefined);
  show('progress');
  step(STEPS, isFound ? 'step-account' : `step-${at}`);
}
