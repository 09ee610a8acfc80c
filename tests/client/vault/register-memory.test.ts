import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { faultOf, newPerson, notAsked } from '../../support/client-person.ts';
import { type ClientWorld, newStorage, on, startClientWorld } from '../../support/client-world.ts';
import { CREDENTIALS } from '../../support/hostile/device.ts';

let world: ClientWorld;
beforeAll(async () => {
  world = await startClientWorld();
});
afterAll(() => world.stop());

/** The next prompts for a signature are refused. */
async function refusing<T>(act: () => Promise<T>): Promise<T> {
  const { get } = CREDENTIALS;
  Object.assign(CREDENTIALS, { get: () => Promise.reject(new DOMException('no', 'NotAllowedError')) });
  try {
    return await act();
  } finally {
    Object.assign(CREDENTIALS, { get });
  }
}

describe('what is kept of a registration', () => {
  test('is forgotten after an hour, and leaves the storage', async () => {
    const one = newPerson(world);
    await faultOf(one.register({ askCode: () => null }));
    await world.allLater(3590);
    expect(one.page().pending()?.identifier).toBe(one.email);
    await world.allLater(20);
    expect(one.page().pending()).toBeUndefined();
    expect(one.storage.size).toBe(0);
  });

  test('is kept for two days once a request was sent', async () => {
    const one = newPerson(world);
    one.line.trouble = (request, pass) => (/\/api\/dids/.test(request.url) ? Promise.reject(new TypeError()) : pass());
    expect(await faultOf(one.register())).toMatchObject({ error: 'unreachable' });
    await world.allLater(40 * 3600);
    expect(one.page().pending()?.identifier).toBe(one.email);
    await world.allLater(9 * 3600);
    expect(one.page().pending()).toBeUndefined();
  });

  test('of an earlier version is left out', () => {
    const one = newPerson(world);
    const name = `vault.register.${new URL(world.url).origin}`;
    for (const text of [JSON.stringify({ identifier: one.email, passkey: {} }), 'null', '{', '[null, 1, {}]']) {
      one.storage.setItem(name, text);
      expect(one.page().pending()).toBeUndefined();
    }
  });

  test('an attestation that has ended costs a code, and no prompt', async () => {
    const one = newPerson(world);
    expect(await refusing(() => faultOf(one.register()))).toMatchObject({ error: 'passkey_refused' });
    await world.allLater(400);
    const before = one.device.keyring.asked;
    const made = await one.register();
    expect((await made.confirmed).proven).toBe(true);
    expect([one.device.keyring.asked - before, world.t.mailsTo(one.email).length]).toEqual([1, 2]);
  });

  test('an attestation that ends while a click is waited for costs no prompt either', async () => {
    const one = newPerson(world);
    let isLate = false;
    const made = await one.register({
      async onStep(step) {
        if (step === 'proof' && !isLate) await world.allLater(400);
        if (step === 'proof') isLate = true;
      },
    });
    expect((await made.confirmed).proven).toBe(true);
    expect([one.device.keyring.asked, world.t.mailsTo(one.email).length]).toEqual([1, 2]);
    expect(one.steps.slice(0, 6)).toEqual(['code', 'passkey', 'proof', 'code', 'proof', 'record']);
  });

  test('goes with restart: for a person whose passkey is lost', async () => {
    const one = newPerson(world);
    expect(await refusing(() => faultOf(one.register()))).toMatchObject({ hint: expect.stringContaining('restart') });
    one.device.keyring.passkeys.clear();
    expect(await faultOf(one.register())).toMatchObject({ error: 'passkey_refused' });
    const made = await one.register({ restart: true });
    expect((await made.confirmed).proven).toBe(true);
  });

  test('is found by other ways of writing the address', async () => {
    const one = newPerson(world);
    await faultOf(one.register({ askCode: () => null }));
    const email = ` ${one.email.toUpperCase()}`;
    expect((await one.register({ email })).identifier).toBe(one.email);
    expect(world.t.mailsTo(one.email)).toHaveLength(1);
  });
});

describe('two at once', () => {
  test('of one page are one: a double click sends one code', async () => {
    const one = newPerson(world);
    const page = one.page();
    const [first, second] = await Promise.all([
      one.register({}, one.device, page),
      one.register({ askCode: notAsked }, one.device, page),
    ]);
    expect(second.txHash).toBe(first.txHash);
    expect([one.device.keyring.passkeys.size, world.t.mailsTo(one.email).length]).toEqual([1, 1]);
  });

  test('of two tabs go on with each other’s steps', async () => {
    const one = newPerson(world);
    const tabs = [one.page(), one.page()];
    // Both ask for the code that one of them sent; then the second waits until the first has made the passkey.
    const asked = Promise.withResolvers<void>();
    const made = Promise.withResolvers<void>();
    const first = one.register(
      {
        askCode: () => asked.promise.then(() => world.t.codeFor(one.email)),
        onStep: (step) => (step === 'proof' ? made.resolve() : undefined),
      },
      one.device,
      tabs[0],
    );
    const second = one.register(
      {
        askCode() {
          asked.resolve();
          return made.promise.then(() => world.t.codeFor(one.email));
        },
      },
      one.device,
      tabs[1],
    );
    const [a, b] = await Promise.all([first, second]);
    expect(a.did).toBe(b.did);
    expect([one.device.keyring.passkeys.size, (await b.confirmed).did]).toEqual([1, a.did]);
    expect(world.t.mailsTo(one.email)).toHaveLength(1);
    expect(one.storage.size).toBe(0);
  });

  test('of two people lie beside each other, and the end of one leaves the other', async () => {
    const storage = newStorage();
    const [one, two] = [newPerson(world, storage), newPerson(world, storage)];
    const page = one.page();
    const made = await one.register({}, one.device, page);
    await faultOf(two.register({ askCode: () => null }, two.device, page));
    await made.confirmed;
    expect(page.pending()?.identifier).toBe(two.email);
    expect((await two.register({}, two.device, page)).identifier).toBe(two.email);
    expect(world.t.mailsTo(two.email)).toHaveLength(1);
  });

  test('a page without storage keeps it as long as it is open', async () => {
    const one = newPerson(world);
    const page = one.page({ storage: null });
    await on(one.device, () => faultOf(page.register({ email: one.email, askCode: () => null })));
    expect(page.pending()?.identifier).toBe(one.email);
    page.forget();
    expect(page.pending()).toBeUndefined();
  });
});
