// An address that the browser shows by a token, without a code (Email Verification Protocol).
import { provenBy } from '../../client/vault/code.ts';
import type { Registrar } from '../../client/vault/registration-run.ts';
import { element, field } from './view.ts';

/** The nonce of this visit; null where the vault takes no token. */
let nonce: string | null = null;
let isWaitDue = false;

/** Notes the nonce of a token. */
export function noteNonce(given: string | null): void {
  nonce = given;
  isWaitDue = given !== null;
}

/** A browser asks the issuer once the field is left, and forgets it where the form is submitted before the answer. */
const WAIT_MS = 1_000;

/**
 * Asks the browser for a token once the form is submitted; others see a hidden field. The first submission waits until
 * the field was left a second ago. Called once the form has its place: an element that is moved loses its nonce.
 */
export function askForToken(): void {
  if (nonce === null) return;
  const [hidden, input] = [field('email-token'), field('address')];
  hidden.setAttribute('nonce', nonce);
  hidden.setAttribute('autocomplete', 'email-verification-token');
  let leftAt: number | undefined;
  input.onblur = () => {
    leftAt = performance.now();
  };
  input.oninput = () => {
    leftAt = undefined;
  };
  // Enter clicks it, too.
  element('address-go').onclick = (event) => {
    const now = performance.now();
    const waitMs = (leftAt ?? now) + WAIT_MS - now;
    if (!isWaitDue || waitMs <= 0 || !input.value.includes('@')) return;
    isWaitDue = false;
    event.preventDefault();
    input.blur();
    setTimeout(() => input.form?.requestSubmit(), waitMs);
  };
}

/** The token of the form that is submitted now: it is there for the time of the event alone. */
export function tokenIn(form: HTMLFormElement): string | undefined {
  const token = new FormData(form).get('email-token');
  return typeof token === 'string' && token !== '' ? token : undefined;
}

/** Shows the address by its token. What the vault does not take is nobody's fault: a code is sent then. */
export async function showToken(
  { call, memory }: Registrar,
  { channel, identifier }: { readonly channel: string; readonly identifier: string },
  token: string | undefined,
): Promise<void> {
  if (token === undefined || channel !== 'email') return;
  const address = { identifier, channel } as const;
  const verdict = await call('POST /api/verify/check', { ...address, token }).catch(() => undefined);
  if (verdict?.verified && 'attestation' in verdict)
    memory.write({ ...(memory.find(address) ?? address), ...provenBy(verdict.attestation) });
}
