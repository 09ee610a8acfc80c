import type { Hex } from '../wallet/bytes.ts';
import { parseJson } from './error.ts';
import type { Attestation, Channel, InputOf } from './wire.ts';

/** The request of a registration. */
export type RegistrationInput = InputOf<'POST /api/dids'> & { readonly pubKeyX: string; readonly pubKeyY: string };

/** Where what must outlive a reload is kept. */
export type Keeper = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** The subject of a registration. */
export interface Subject {
  readonly identifier: string;
  readonly channel: Channel;
}

/** A passkey that registers; `owner` is the account that it has already, in place of a new one of its key. */
export interface RegisteringPasskey {
  readonly credentialId: string;
  readonly x: Hex;
  readonly y: Hex;
  readonly owner?: { readonly address: Hex; readonly did: string };
}

/** A registration that was begun, as it is kept until it is confirmed. Times are this device's, in milliseconds. */
export interface Progress extends Subject {
  /** When its last step was kept. */
  readonly at?: number;
  /** The request for a code, by its idempotency key; the challenge is that of its answer. */
  readonly sent?:
    | { readonly key: string; readonly challenge?: string; readonly endsAt: number; readonly nextAt: number }
    | undefined;
  readonly attestation?: Attestation | undefined;
  readonly attestedUntil?: number;
  readonly passkey?: RegisteringPasskey | undefined;
  /** The idempotency key of a handle's session. */
  readonly session?: string;
  /** The operation that was signed for the chain, when, and the block from which it is looked for. */
  readonly operation?: { readonly nonce: Hex; readonly since: number; readonly at: number } | undefined;
  readonly txHash?: string | undefined;
  /** The request of the registration, and its idempotency key: from here on it is repeated as it is. */
  readonly request?: { readonly body: RegistrationInput; readonly key: string } | undefined;
}

/** The registrations begun with one vault. They are read each time, so that two tabs continue each other's steps. */
export interface Memory {
  /** The one that was gone on with last. */
  read(): Progress | undefined;
  find(subject: Subject): Progress | undefined;
  write(progress: Progress): void;
  /** Forgets one, or all. */
  forget(subject?: Subject): void;
}

const HOUR_MS = 3_600_000;
/** Something may have happened at the vault, or on-chain. */
const SENT_MS = 48 * HOUR_MS;
const PEOPLE_MAX = 8;

/** In the browser's `localStorage`; where there is none, or it is full, nothing outlives the page. */
export function openMemory(url: string, keeper: Keeper | null | undefined, endsAfterMs = HOUR_MS): Memory {
  const name = `vault.register.${new URL(url).origin}`;
  /** The last state that could not be stored. */
  let kept: string | undefined;
  const attempt = <T>(act: (keeper: Keeper) => T): T | undefined => {
    try {
      const place = keeper === undefined ? globalThis.localStorage : keeper;
      return place ? act(place) : undefined;
    } catch {
      return undefined;
    }
  };
  const put = (all: readonly Progress[]) => {
    const text = JSON.stringify(all.slice(0, PEOPLE_MAX));
    const isStored = attempt((place) => {
      if (all.length > 0) place.setItem(name, text);
      else place.removeItem(name);
      return true;
    });
    kept = isStored ? undefined : text;
  };
  const isOpen = (one: Progress | null) =>
    one?.at && Date.now() - one.at < (one.operation || one.txHash || one.request ? SENT_MS : endsAfterMs);
  const readAll = () => {
    // A value that is not a list is from an earlier version, or from somebody else.
    const found = parseJson(kept ?? attempt((place) => place.getItem(name)) ?? '');
    const all: readonly Progress[] = Array.isArray(found) ? found : [];
    const open = all.filter(isOpen);
    if (open.length < all.length) put(open);
    return open;
  };
  const others = (subject: Subject) => readAll().filter((one) => nameOf(one) !== nameOf(subject));
  return {
    read: () => readAll()[0],
    find: (subject) => readAll().find((one) => nameOf(one) === nameOf(subject)),
    write: (progress) => put([{ ...progress, at: Date.now() }, ...others(progress)]),
    forget: (subject) => put(subject ? others(subject) : []),
  };
}

/** The same for each way of writing an address. */
export function nameOf({ identifier, channel }: Subject): string {
  return channel + (channel === 'sms' ? identifier.replace(/[^+\d]/g, '') : identifier.toLowerCase());
}

/** Whether the vault's word for the address can be used still. */
export function isAttested({ attestation, attestedUntil = 0 }: Progress): boolean {
  return attestation !== undefined && attestedUntil > Date.now();
}
