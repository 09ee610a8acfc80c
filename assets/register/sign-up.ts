// A new person: the client's registration, with this page's screens between its steps.
import { register } from '../../client/vault/register.ts';
import type { RegisterStep, Registrar } from '../../client/vault/registration-run.ts';
import { kindsOf, nameOf } from '../../client/wallet/account.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { word } from '../words/words.ts';
import type { Evidence } from './api.ts';
import { keepHere } from './memory.ts';
import { refusalOf } from './problem.ts';
import { type Address, askCode, askPasskeyPress, type PasskeyOptions } from './screens.ts';
import { show } from './view.ts';

/** The person chose another way. */
export class InsteadError extends Error {
  override readonly name = 'InsteadError';
  readonly way: 'sign-in' | 'other-address';

  constructor(way: 'sign-in' | 'other-address') {
    super(way);
    this.way = way;
  }
}

/** What a sign-up needs to know, and where it says how far it is. */
export interface SignUp {
  readonly address: Address;
  readonly app: string;
  readonly rpId: string;
  /** The channel that the app asks for. */
  readonly wanted: string | undefined;
  /** By which the vault registers somebody new. */
  readonly invite: string | undefined;
  /** The language of the code's message. */
  readonly language: string;
  readonly onProgress: (at: 'passkey' | 'account') => void;
}

/**
 * Registers a person, from where this tab was, and returns what shows it. A passkey that was refused can be asked again
 * at once. Throws `InsteadError`, and `VaultClientError`.
 */
export async function signUp(registrar: Registrar, signUp: SignUp): Promise<Evidence> {
  const { address, language, invite, onProgress } = signUp;
  const { identifier, channel } = address;
  let notice: string | undefined;
  for (;;) {
    const press = createPress(registrar, signUp, notice);
    const onStep = async (step: RegisterStep) => {
      if (step === 'code') show('loading');
      if (step === 'passkey' || step === 'proof') await press(step);
      if (step === 'passkey') onProgress('passkey');
      if (step === 'record') onProgress('account');
    };
    const subject = channel === 'email' ? { email: identifier } : { phone: identifier };
    try {
      const made = await register(registrar, { ...subject, askCode, onStep, name: identifier, language, invite });
      return await evidenceOf(registrar, made.credentialId);
    } catch (error) {
      const said = refusalOf(error)?.error;
      if (said === 'cancelled') throw new InsteadError('other-address');
      if (said !== 'passkey_refused') throw error;
      notice = word('passkey.refused');
    }
  }
}

/**
 * Waits for the press that a passkey needs. One press is enough for both prompts; after a reload, or a refusal, each
 * goes on by a press of its own.
 */
function createPress({ call, memory }: Registrar, signUp: SignUp, notice: string | undefined) {
  let isPressed = false;
  return async (step: 'passkey' | 'proof'): Promise<void> => {
    if (isPressed) return;
    const { address } = signUp;
    const { available, reason } = await call('GET /api/sessions/check', address).catch(() => ({
      available: true,
      reason: undefined,
    }));
    const isTaken = !available && reason === 'identifier_taken' && memory.read()?.passkey === undefined;
    await askPress(signUp, { isTaken, isMade: step === 'proof', notice });
    isPressed = true;
  };
}

/** Waits for the press on the screen of the passkey. Throws `InsteadError`. */
export async function askPress(
  { address, app, rpId: host, wanted }: SignUp,
  options: Pick<PasskeyOptions, 'isTaken' | 'isMade' | 'notice'>,
): Promise<void> {
  const choice = await askPasskeyPress({ app, address: address.identifier, host, wanted, ...options });
  if (choice !== 'go') throw new InsteadError(choice);
}

/** The attestation of the request that registered, which the registration's own proof names. */
async function evidenceOf({ memory, info }: Registrar, credentialId: string): Promise<Evidence> {
  const { body } = memory.read()?.request ?? {};
  if (!body?.attestation) throw new Error('a registration without its request');
  const { smartAccount, pubKeyX: x, pubKeyY: y } = body;
  const address = smartAccount?.toLowerCase() as Hex;
  const { contracts } = await info();
  const [kind = 1] = kindsOf({ factory2: contracts.accountFactory2 });
  await keepHere({ credentialId, address, kind, x: x as Hex, y: y as Hex, name: nameOf(address) });
  return { credentialId, attestation: body.attestation };
}
