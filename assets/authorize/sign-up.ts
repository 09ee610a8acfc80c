// A new person: the client's registration, with this page's screens between its steps.
import { register } from '../../client/vault/register.ts';
import type { RegisterStep, Registrar } from '../../client/vault/registration-run.ts';
import { kindsOf, nameOf } from '../../client/wallet/account.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { promptWord } from '../wallet/prompt.ts';
import { word } from '../words/words.ts';
import type { Evidence } from './api.ts';
import { keepHere } from './memory.ts';
import { refusalOf } from './problem.ts';
import { type Address, askCode, askOwned, askPasskeyPress, type PasskeyOptions } from './screens.ts';
import { showToken } from './token.ts';
import { show } from './view.ts';

/** `form`: this device has no passkey, and the address leads on. */
type Way = 'sign-in' | 'recover' | 'other-address' | 'form';

/** The person chose another way, or there is only another. */
export class InsteadError extends Error {
  override readonly name = 'InsteadError';
  readonly way: Way;

  constructor(way: Way) {
    super(way);
    this.way = way;
  }
}

/** The input of a sign-up, and where it reports its progress. */
export interface SignUp {
  readonly address: Address;
  /** The browser's token for it. */
  readonly token?: string | undefined;
  readonly app: string;
  readonly rpId: string;
  /** The invite by which the vault registers somebody new. */
  readonly invite: string | undefined;
  /** The language of the code's message. */
  readonly language: string;
  readonly onProgress: (at: 'passkey' | 'account') => void;
  /** In how many hours an address moves here that another account holds. */
  readonly moveHours: number;
  /** Accounts can be recovered here. */
  readonly recovers: boolean;
}

/** A registration that was made here. */
export interface SignedUp {
  readonly evidence: Evidence;
  /** The address in its normal form. */
  readonly identifier: string;
}

/**
 * Registers a person, from where this tab was. A passkey that was refused can be asked again at once. Throws
 * `InsteadError`, and `VaultClientError`.
 */
export async function signUp(registrar: Registrar, signUp: SignUp): Promise<SignedUp> {
  const { address, language, invite, onProgress } = signUp;
  const { identifier, channel } = address;
  let notice: string | undefined;
  for (;;) {
    const press = createPress(registrar, signUp, notice);
    const onStep = async (step: RegisterStep) => {
      if (step === 'code') {
        show('loading');
        await offerOthers(registrar, signUp);
        await showToken(registrar, address, signUp.token);
      }
      if (step === 'passkey' || step === 'proof') await press(step);
      if (step === 'passkey') onProgress('passkey');
      if (step === 'record') onProgress('account');
    };
    const subject = channel === 'email' ? { email: identifier } : { phone: identifier };
    try {
      const made = await register(registrar, { ...subject, askCode, onStep, name: identifier, language, invite });
      return { evidence: await evidenceOf(registrar, made.credentialId), identifier: made.identifier };
    } catch (error) {
      const said = refusalOf(error)?.error;
      if (said === 'cancelled') throw new InsteadError('other-address');
      if (said !== 'passkey_refused') throw error;
      notice = word(promptWord(error) ?? 'passkey.refused');
    }
  }
}

/**
 * Waits for the press that a passkey needs. One press is enough for both prompts; after a reload, or a refusal, each
 * goes on by a press of its own.
 */
function createPress({ memory }: Registrar, signUp: SignUp, notice: string | undefined) {
  let isPressed = false;
  return async (step: 'passkey' | 'proof'): Promise<void> => {
    if (isPressed) return;
    const isAdded = memory.find(signUp.address)?.passkey?.owner !== undefined;
    await askPress(signUp, { isMade: step === 'proof', isAdded, notice });
    isPressed = true;
  };
}

/**
 * Runs before the first code to an address of another account. Its holder can sign in or recover instead; others learn
 * that it moves slowly. Throws `InsteadError`.
 */
async function offerOthers({ call, memory }: Registrar, signUp: SignUp): Promise<void> {
  const { address } = signUp;
  const { sent, passkey } = memory.find(address) ?? {};
  if (sent || (passkey && !passkey.owner)) return;
  const { available, reason } = await call('GET /api/sessions/check', address).catch(() => ({
    available: true,
    reason: undefined,
  }));
  if (available || reason !== 'identifier_taken') return;
  const choice = await askOwned({ ...signUp, address: address.identifier });
  if (choice !== 'go') throw new InsteadError(choice);
  show('loading');
}

/** Waits for the press on the screen of the passkey. Throws `InsteadError`. */
export async function askPress(
  { address, app, rpId: host }: SignUp,
  options: Pick<PasskeyOptions, 'isMade' | 'isAdded' | 'notice'>,
): Promise<void> {
  const choice = await askPasskeyPress({ app, address, host, ...options });
  if (choice !== 'go') throw new InsteadError(choice);
}

/** The attestation of the request that registered, which the registration's own proof names. */
async function evidenceOf({ memory, info }: Registrar, credentialId: string): Promise<Evidence> {
  const { passkey, request } = memory.read() ?? {};
  const { body } = request ?? {};
  if (!body?.attestation) throw new Error('a registration without its request');
  const evidence = { credentialId, attestation: body.attestation };
  // The account was there before.
  if (passkey?.owner) return evidence;
  const { smartAccount, pubKeyX: x, pubKeyY: y } = body;
  const address = smartAccount?.toLowerCase() as Hex;
  const { contracts } = await info();
  const [kind = 1] = kindsOf({ factory2: contracts.accountFactory2 });
  await keepHere({ credentialId, address, kind, x: x as Hex, y: y as Hex, name: nameOf(address) });
  return evidence;
}
