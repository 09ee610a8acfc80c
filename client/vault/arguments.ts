// Checks of a page's arguments, before the client asks, sends or makes anything.
import { shown } from '../order-members.ts';
import type { Call } from './call.ts';
import { fault, VaultClientError } from './error.ts';
import type { Subject } from './progress.ts';

/** Throws a `TypeError` for anything but the http or https URL of a vault. */
export function demandUrl(url: unknown): void {
  if (/^https?:/i.test(String(url)) && URL.canParse(String(url))) return;
  throw new TypeError(
    `createClient: url is ${shown(url)}; expected the vault's origin, as in https://vault.example.com`,
  );
}

/**
 * The subject of a registration. Throws a `TypeError` where the page names none, or cannot ask for the code, and
 * `cancelled` if the person left it out.
 */
export function subjectOf(options: unknown): Subject {
  const { email, phone, handle, askCode } = (options ?? {}) as Readonly<Record<string, unknown>>;
  const [given, ...others] = Object.entries({ email, sms: phone, handle }).filter(([, value]) => value !== undefined);
  if (!given || others.length > 0) throw new TypeError('register: expected one of email, phone and handle');
  const [channel, text] = given as [Subject['channel'], string | null];
  if (channel !== 'handle' && typeof askCode !== 'function')
    throw new TypeError(`register: askCode is ${shown(askCode)}; expected a function`);
  const identifier = text?.trim();
  if (!identifier) throw fault('cancelled');
  return { identifier, channel };
}

/**
 * Whether the browser lets this page use the passkeys of an RP ID: it is at that host or below it, or the vault names
 * its origin. Throws `rp_id_refused`, with both.
 */
export async function demandPlace(call: Call, rpId: string, signal: AbortSignal | undefined): Promise<void> {
  const { hostname, origin } = globalThis.location ?? { hostname: rpId };
  if (hostname === rpId || hostname.endsWith(`.${rpId}`)) return;
  const { origins } = await call('GET /.well-known/webauthn', {}, { signal }).catch((error: unknown) => {
    if (error instanceof VaultClientError && error.error === 'not_found') return { origins: [] as string[] };
    throw error;
  });
  if (!origins.includes(origin)) throw refusedPlace(rpId);
}

/** The fault of a page whose host may not use the RP ID. */
export function refusedPlace(rpId: string): VaultClientError {
  const here = globalThis.location?.host || globalThis.location?.protocol;
  const hint = `This page is at ${here}, but the vault's passkeys are for ${rpId}: open it there. See RP_IDS and RELATED_ORIGINS.`;
  return fault('rp_id_refused', { hint });
}

/** Throws the vault's word for a handle that is malformed, reserved or taken. */
export async function demandHandle(call: Call, alias: string, signal: AbortSignal | undefined): Promise<void> {
  const { available, reason } = await call('GET /api/aliases/check', { alias }, { signal });
  if (!available) throw new VaultClientError(reason ?? 'identifier_taken', { status: 409 });
}
