import { AsyncLocalStorage } from 'node:async_hooks';
import { Base64, Hex } from 'ox';
import { createPasskey, type Passkey } from '../../../scripts/dev-stack/passkey.ts';
import type { Draw } from '../draw.ts';
import { IDBFactory } from './indexed-db.ts';
import type { WorldTime } from './time.ts';

/** The passkeys of a person, which all of their devices have. */
export interface Keyring {
  readonly passkeys: Map<string, { readonly passkey: Passkey; readonly userHandle: Uint8Array }>;
  /** Which one the person takes when a page names none. */
  pick: string | undefined;
  /** How often a page asked for a signature. */
  asked: number;
  /** For whom passkeys were made, in order. */
  readonly made: { readonly rpId: string; readonly name: string; readonly displayName: string }[];
  /** Whether the person lets their passkeys be used. */
  isWilling: boolean;
  /** What its chance comes from. */
  readonly draw: Draw;
}

/** A browser of somebody's: its own storage, and a way to the vault. */
export interface Device {
  readonly keyring: Keyring;
  readonly indexedDB: IDBFactory;
  readonly localStorage: Pick<Storage, 'getItem' | 'setItem'>;
  /** Where its pages are from. */
  readonly vault: string;
  /** How often its pages asked to keep what they store. */
  persisted: number;
  /** Whether its browser has passkeys at all. */
  hasPasskeys: boolean;
}

/** No passkeys yet. */
export function newKeyring(draw: Draw): Keyring {
  return { passkeys: new Map(), pick: undefined, asked: 0, made: [], isWilling: true, draw };
}

/** A browser that never saw the vault. */
export function newDevice(vault: string, draw: Draw, keyring = newKeyring(draw)): Device {
  const texts = new Map<string, string>();
  const localStorage = {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => void texts.set(name, text),
  };
  return { keyring, indexedDB: new IDBFactory(), localStorage, vault, persisted: 0, hasPasskeys: true };
}

const current = new AsyncLocalStorage<Device>();

/** Runs a page's code on a device, with what a browser gives it. */
export function on<T>(device: Device, run: () => Promise<T>): Promise<T> {
  return current.run(device, run);
}

/**
 * Puts a browser's globals in place: code that runs `on` a device gets that device's, all other code what it had before.
 * Answers what takes them away again.
 */
export function installBrowser(time: WorldTime): () => void {
  const real = { fetch: globalThis.fetch, setTimeout: globalThis.setTimeout, now: Date.now };
  const digest = crypto.subtle.digest.bind(crypto.subtle);
  const chance = crypto.getRandomValues.bind(crypto);
  const change = {
    fetch: (input: string, init?: RequestInit) => {
      const device = current.getStore();
      return device ? time.during(reach(device, input, init, real.fetch)) : real.fetch(input, init);
    },
    setTimeout: (fn: () => void, ms = 0) => (current.getStore() ? time.timer(ms, fn) : real.setTimeout(fn, ms)),
    indexedDB: {
      open: (...name: [string, number]) => (current.getStore() as Device).indexedDB.open(...name),
    },
  };
  const before = new Map(Object.keys(change).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  for (const [name, value] of Object.entries(change)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  Date.now = () => (current.getStore() ? time.now() : real.now());
  Object.defineProperty(navigator, 'credentials', { value: CREDENTIALS, configurable: true });
  Object.defineProperty(crypto.subtle, 'digest', {
    value: (name: string, data: BufferSource) => time.during(digest(name, data)),
    configurable: true,
  });
  Object.defineProperty(crypto, 'getRandomValues', {
    value: (bytes: Uint8Array) => {
      const device = current.getStore();
      if (!device) return chance(bytes);
      bytes.set(device.keyring.draw.bytes(bytes.length));
      return bytes;
    },
    configurable: true,
  });
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
    }
    Date.now = real.now;
    Reflect.deleteProperty(navigator, 'credentials');
    Reflect.deleteProperty(crypto.subtle, 'digest');
    Reflect.deleteProperty(crypto, 'getRandomValues');
  };
}

/** A request to the vault. The whole answer is there before it counts as such, so that nothing of it is under way. */
export async function reach(
  { vault }: Device,
  path: string,
  init: RequestInit = {},
  ask: typeof fetch = fetch,
): Promise<Response> {
  const { signal: _, credentials: __, ...sent } = init;
  const answer = await ask(new URL(path, vault), { ...sent, redirect: 'manual' });
  return new Response(await answer.arrayBuffer(), { status: answer.status, headers: answer.headers });
}

interface Given {
  readonly publicKey: {
    readonly challenge: Uint8Array;
    readonly allowCredentials?: readonly { readonly id: Uint8Array }[];
    readonly excludeCredentials?: readonly { readonly id: Uint8Array }[];
    readonly rp?: { readonly id: string };
    readonly user?: { readonly id: Uint8Array; readonly name: string; readonly displayName: string };
  };
}

/** An authenticator, for code that runs `on` a device: it makes passkeys and signs with them, without asking anybody. */
export const CREDENTIALS = {
  async create({ publicKey }: Given) {
    const { keyring } = current.getStore() as Device;
    if (!keyring.isWilling) throw new DOMException('refused', 'NotAllowedError');
    const { excludeCredentials = [] } = publicKey;
    if (excludeCredentials.some(({ id }) => keyring.passkeys.has(nameOf(id))))
      throw new DOMException('has one', 'InvalidStateError');
    const rawId = crypto.getRandomValues(new Uint8Array(16));
    const passkey = createPasskey(undefined, Hex.fromBytes(keyring.draw.bytes(32)));
    keyring.passkeys.set(nameOf(rawId), { passkey, userHandle: new Uint8Array(publicKey.user?.id ?? []) });
    keyring.pick = nameOf(rawId);
    const { name = '', displayName = '' } = publicKey.user ?? {};
    keyring.made.push({ rpId: publicKey.rp?.id ?? '', name, displayName });
    const getAuthenticatorData = () => authenticatorDataOf(rawId, passkey);
    return { rawId, response: { getAuthenticatorData, getPublicKey: () => publicKeyInfoOf(passkey) } };
  },
  async get({ publicKey: { challenge, allowCredentials = [] } }: Given) {
    const { keyring } = current.getStore() as Device;
    keyring.asked++;
    const names = allowCredentials.map(({ id }) => nameOf(id));
    const name = names.length > 0 ? names.find((one) => keyring.passkeys.has(one)) : keyring.pick;
    const found = keyring.passkeys.get(name ?? '');
    if (!found || name === undefined || !keyring.isWilling) throw new DOMException('no passkey', 'NotAllowedError');
    const { authenticatorData, clientDataJSON, signature } = found.passkey.assert(challenge);
    const bytes = (text: string) => Base64.toBytes(text);
    return {
      rawId: Base64.toBytes(name),
      response: {
        authenticatorData: bytes(authenticatorData),
        clientDataJSON: bytes(clientDataJSON),
        signature: bytes(signature),
        userHandle: found.userHandle,
      },
    };
  },
};

function nameOf(id: Uint8Array): string {
  return Base64.fromBytes(new Uint8Array(id), { url: true, pad: false });
}

/** rpIdHash, flags and counter (37 bytes), AAGUID (16), the id's length (2), the id, and the COSE key (RFC 9053). */
function authenticatorDataOf(rawId: Uint8Array, { key }: Passkey): ArrayBuffer {
  const head = new Uint8Array(53);
  head[32] = 0x5d;
  const cose = ['0xa5010203262001215820', Hex.fromBytes(key.x), '0x225820', Hex.fromBytes(key.y)] as const;
  const bytes = new Uint8Array([...head, 0, rawId.length, ...rawId, ...Hex.toBytes(Hex.concat(...cose))]);
  return bytes.buffer;
}

/** The SubjectPublicKeyInfo of a key on P-256 (RFC 5480). */
function publicKeyInfoOf({ key }: Passkey): ArrayBuffer {
  const head = '0x3059301306072a8648ce3d020106082a8648ce3d03010703420004';
  return Hex.toBytes(Hex.concat(head, Hex.fromBytes(key.x), Hex.fromBytes(key.y))).slice().buffer;
}
