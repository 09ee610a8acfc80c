import { subjectOf } from './arguments.ts';
import { IN_USE, until } from './call.ts';
import { fault, isPassing, VaultClientError } from './error.ts';
import { canRegister } from './passkeys.ts';
import { prepare } from './prepare.ts';
import type { Progress } from './progress.ts';
import type { Proving, RegisterStep, Registrar, RegistrationRun } from './registration-run.ts';
import { type Registration, submit } from './submit.ts';

/** The subject of a registration. A handle takes no code. */
export type RegisterSubject =
  | (Proving & { readonly email: string })
  | (Proving & { readonly phone: string })
  | { readonly handle: string };

/** How a registration goes. */
export type RegisterOptions = RegisterSubject & {
  /** Called before each step, which waits for it: a page can ask for the click that a browser wants. */
  readonly onStep?: (step: RegisterStep) => void | Promise<void>;
  /** The name under which a passkey manager shows the passkey; else the identifier. */
  readonly name?: string;
  /** Drops the progress with this identifier: for a person who has lost the passkey. */
  readonly restart?: boolean;
  /** The token of an invite, for a vault that registers by invitation. */
  readonly invite?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** These say that the identity cannot be had, or is there. */
const OVER = ['identifier_taken', 'did_taken', 'credential_already_registered'];

/**
 * Registers a person: a code, a passkey, the account of its key, and the DID of that account on-chain. Goes on where an
 * earlier call with the same identifier was left.
 */
export async function register(registrar: Registrar, options: RegisterOptions): Promise<Registration> {
  const { memory } = registrar;
  const { signal, onStep, name } = options;
  const subject = subjectOf(options);
  if (!canRegister()) throw fault('passkeys_unavailable');
  if (options.restart) memory.forget(subject);
  // Another tab may have gone on, or be done with it and have forgotten it.
  let seen: Progress = subject;
  const progress = () => {
    seen = memory.find(subject) ?? seen;
    return seen;
  };
  const keep = (change: Partial<Progress>) => {
    seen = { ...progress(), ...change };
    memory.write(seen);
  };
  const step = (at: RegisterStep) => until(onStep?.(at), signal);
  const run: RegistrationRun = { ...registrar, ...options, step, progress, keep };
  for (let attempts = 1; ; attempts++) {
    const request = await prepare(run, name ?? subject.identifier);
    await step('record');
    try {
      return await submit(run, request);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The vault knows nothing of this request. Another code, or another proof, serves the same passkey.
      const isSpent = error.error.startsWith('attestation_');
      if (OVER.includes(error.error)) memory.forget(subject);
      else keep({ request: undefined, ...(isSpent ? { attestation: undefined } : {}) });
      const isLate = error.reason?.startsWith('expire') ?? false;
      if (attempts > 1 || !(isSpent || isLate)) throw error;
    }
  }
}

/** Whether the vault refused the request. A proxy's page, or the vault's own trouble, is not a refusal. */
function isRefusal(error: unknown): error is VaultClientError {
  if (!(error instanceof VaultClientError) || error.error === 'unexpected_answer' || isPassing(error)) return false;
  return error.status >= 400 && error.error !== IN_USE;
}
