import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { newKey } from '../../../client/vault/call.ts';
import { createClient } from '../../../client/vault/index.ts';
import { faultOf, newPerson } from '../../support/client-person.ts';
import { type ClientWorld, on, startClientWorld } from '../../support/client-world.ts';
import { CREDENTIALS } from '../../support/hostile/device.ts';

let world: ClientWorld;
beforeAll(async () => {
  world = await startClientWorld();
});
afterAll(() => world.stop());
const { create, get } = CREDENTIALS;
afterEach(() => {
  Object.assign(CREDENTIALS, { create, get });
  putCredentials(CREDENTIALS);
});

function putCredentials(value: unknown): void {
  Object.defineProperty(navigator, 'credentials', { value, configurable: true });
}

/** Replaces a global; answers what puts it back. */
function put(name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true });
  return () => {
    if (before) Object.defineProperty(globalThis, name, before);
    else Reflect.deleteProperty(globalThis, name);
  };
}

describe('where passkeys cannot work, register says so before it sends a code', () => {
  test('a browser inside an app, or a page without https', async () => {
    const one = newPerson(world);
    putCredentials(undefined);
    const fault = await faultOf(one.register());
    expect(fault).toMatchObject({
      error: 'passkeys_unavailable',
      hint: expect.stringContaining('in the browser itself'),
    });
    expect([one.line.asked, world.t.mailsTo(one.email), one.steps]).toEqual([[], [], []]);
    expect(await faultOf(on(one.device, () => one.page().signIn()))).toMatchObject({ error: 'passkeys_unavailable' });
  });

  test('a browser that has credentials, but no passkeys', async () => {
    const one = newPerson(world);
    const before = Object.getOwnPropertyDescriptor(globalThis, 'PublicKeyCredential') ?? {};
    Reflect.deleteProperty(globalThis, 'PublicKeyCredential');
    expect(await faultOf(one.register())).toMatchObject({ error: 'passkeys_unavailable' });
    Object.defineProperty(globalThis, 'PublicKeyCredential', before);
    expect(one.line.asked).toEqual([]);
  });

  test('a frame of another origin, whose proofs the vault refuses', async () => {
    const one = newPerson(world);
    const undo = put('top', {
      get location(): never {
        throw new DOMException('cross-origin', 'SecurityError');
      },
    });
    expect(await faultOf(one.register())).toMatchObject({ error: 'passkeys_unavailable' });
    undo();
    expect(one.line.asked).toEqual([]);
  });

  test('calls without passkeys go on without a secure origin', async () => {
    const { randomUUID } = crypto;
    Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
    const vault = createClient({ url: world.url, storage: null });
    expect((await vault.status()).chainId).toBe(84532);
    expect((await vault.verify.send({ identifier: 'insecure@example.com', channel: 'email' })).ok).toBe(true);
    Object.defineProperty(crypto, 'randomUUID', { value: randomUUID, configurable: true });
    expect(newKey()).not.toBe(newKey());
  });
});

describe('an authenticator that', () => {
  const refuse = (name: string) => () => Promise.reject(new DOMException('no', name));
  test.each([
    ['refuses', 'NotAllowedError', 'passkey_refused'],
    ['may not use the RP ID', 'SecurityError', 'rp_id_refused'],
    ['has no ES256', 'NotSupportedError', 'passkey_unsupported'],
    ['verifies nobody', 'ConstraintError', 'passkey_unsupported'],
    ['is in another state', 'InvalidStateError', 'passkey_unsupported'],
  ] as const)('%s: the word says what helps', async (_, name, word) => {
    const one = newPerson(world);
    Object.assign(CREDENTIALS, { create: refuse(name) });
    expect(await faultOf(one.register())).toMatchObject({ error: word, hint: expect.any(String) });
  });

  test('throws at once is a passkey that was refused', async () => {
    const one = newPerson(world);
    Object.assign(CREDENTIALS, {
      create() {
        throw new DOMException('busy', 'OperationError');
      },
    });
    expect(await faultOf(one.register())).toMatchObject({ error: 'passkey_refused' });
  });

  test.each([
    ['has no way to read the key', { getPublicKey: undefined }],
    ['does not know the key', { getPublicKey: () => null }],
    ['makes a key on another curve', { getPublicKey: () => new Uint8Array(120).buffer }],
  ])('%s cannot be used', async (_, change) => {
    const one = newPerson(world);
    const made = async (options: Parameters<typeof create>[0]) => {
      const { rawId, response } = await create.call(CREDENTIALS, options);
      return { rawId, response: { ...response, ...change } };
    };
    Object.assign(CREDENTIALS, { create: made });
    expect(await faultOf(one.register())).toMatchObject({ error: 'passkey_unsupported' });
    Object.assign(CREDENTIALS, { create });
    expect((await one.register()).channel).toBe('email');
  });

  test('does not say its data serves all the same', async () => {
    const one = newPerson(world);
    const made = async (options: Parameters<typeof create>[0]) => {
      const { rawId, response } = await create.call(CREDENTIALS, options);
      return { rawId, response: { getPublicKey: response.getPublicKey } };
    };
    Object.assign(CREDENTIALS, { create: made });
    expect((await (await one.register()).confirmed).proven).toBe(true);
  });
});

describe('a signal that is aborted', () => {
  const enough = new Error('enough');
  /** A dialog that the browser closes with the signal, as the platform does. */
  const dialog = ({ signal }: { signal?: AbortSignal }) =>
    new Promise<never>((_, reject) => {
      if (!signal) return;
      signal.addEventListener('abort', () => reject(signal.reason));
    });

  test.each(['create', 'get'] as const)('closes the dialog of %s', async (name) => {
    const one = newPerson(world);
    const end = new AbortController();
    Object.assign(CREDENTIALS, {
      [name]: (options: { signal?: AbortSignal }) => {
        setTimeout(() => end.abort(enough), 10);
        return dialog(options);
      },
    });
    expect(await faultOf(one.register({ signal: end.signal }))).toBe(enough as never);
  });

  test('ends the question for the code, and a step that waits for a click', async () => {
    const one = newPerson(world);
    const end = new AbortController();
    const asking = one.register({
      signal: end.signal,
      askCode: () => new Promise(() => setTimeout(() => end.abort(enough), 10)),
    });
    expect(await faultOf(asking)).toBe(enough as never);
    const late = new AbortController();
    const waiting = one.register({
      signal: late.signal,
      onStep: (step) => (step === 'proof' ? new Promise(() => setTimeout(() => late.abort(enough), 10)) : undefined),
    });
    expect(await faultOf(waiting)).toBe(enough as never);
    // Nothing of it is in the way of the next call.
    expect((await one.register()).identifier).toBe(one.email);
  });
});
