import type { Hex } from '../wallet/bytes.ts';
import type { Attestation, Channel, InputOf } from './wire.ts';

/** The request of a registration. */
export type RegistrationInput = InputOf<'POST /api/dids'>;

/** Where what must outlive a reload is kept. */
export type Keeper = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** A registration that was begun, as it is kept until it is confirmed. */
export interface Progress {
  readonly identifier: string;
  readonly channel: Channel;
  /** The code that was sent. Times are this device's, in milliseconds. */
  readonly sent?: { readonly challenge: string; readonly endsAt: number; readonly nextAt: number } | undefined;
  readonly attestation?: Attestation | undefined;
  readonly passkey?: { readonly credentialId: string; readonly x: Hex; readonly y: Hex } | undefined;
  /** The operation that was signed for the chain, by its nonce and the block from which it is looked for. */
  readonly operation?: { readonly nonce: Hex; readonly since: number } | undefined;
  readonly txHash?: string | undefined;
  /** The request of the registration, and its idempotency key: from here on it is repeated as it is. */
  readonly request?: { readonly body: RegistrationInput; readonly key: string } | undefined;
}

/** What was begun for one vault. */
export interface Memory {
  read(): Progress | undefined;
  write(progress: Progress): void;
  forget(): void;
}

/** In the browser's `localStorage`; where there is none, or it is full, nothing outlives the page. */
export function openMemory(url: string, keeper: Keeper | null | undefined): Memory {
  const name = `vault.register.${new URL(url).origin}`;
  let kept: string | null = null;
  const attempt = <T>(act: (keeper: Keeper) => T): T | undefined => {
    try {
      const place = keeper === undefined ? globalThis.localStorage : keeper;
      return place ? act(place) : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    read() {
      const text = kept ?? attempt((place) => place.getItem(name)) ?? null;
      return text === null ? undefined : parse(text);
    },
    write(progress) {
      const text = JSON.stringify(progress);
      kept = text;
      attempt((place) => place.setItem(name, text));
    },
    forget() {
      kept = null;
      attempt((place) => place.removeItem(name));
    },
  };
}

/** Undefined for what an earlier version, or somebody else, left there. */
function parse(text: string): Progress | undefined {
  try {
    const found = JSON.parse(text) as Progress | null;
    return typeof found?.identifier === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}
