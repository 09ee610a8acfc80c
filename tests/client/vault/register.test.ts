import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createClient } from '../../../client/vault/index.ts';
import { faultOf, newPerson, notAsked } from '../../support/client-person.ts';
import { broken, type ClientWorld, on, startClientWorld } from '../../support/client-world.ts';
import { otherCode } from '../../support/digits.ts';

let world: ClientWorld;
beforeAll(async () => {
  world = await startClientWorld();
});
afterAll(() => world.stop());

const person = () => newPerson(world);

describe('register', () => {
  test('resolves at submitted, and says when it is confirmed', async () => {
    const one = person();
    const made = await one.register();
    expect(made).toMatchObject({ identifier: one.email, channel: 'email' });
    expect(made.did).toBe(`did:pkh:eip155:84532:${made.smartAccount}`);
    expect(made.txHash).toMatch(/^0x[0-9a-f]{64}$/);
    const row = await made.confirmed;
    expect(row).toMatchObject({ did: made.did, status: 'confirmed', proven: true, txHash: made.txHash });
    expect(row.proofs).toEqual({ identifier: 'attestation', controller: 'passkey', did: 'address' });
    expect(one.steps).toEqual(['code', 'passkey', 'proof', 'record', 'submitted', 'confirmed']);
    // One passkey, and one signature.
    expect([one.device.keyring.passkeys.size, one.device.keyring.asked]).toEqual([1, 1]);
    expect([one.storage.size, one.page().pending()]).toEqual([0, undefined]);
    expect(world.t.mailsTo(one.email)).toHaveLength(1);
  });

  test('is done at submitted also where the vault’s answer takes its time', async () => {
    const one = person();
    let answered: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      answered = resolve;
    });
    one.line.trouble = async (request, pass) => {
      const reply = await pass();
      if (new URL(request.url).pathname === '/api/dids') await held;
      return reply;
    };
    const made = await one.register();
    expect(made.txHash).toMatch(/^0x[0-9a-f]{64}$/);
    answered?.();
    expect((await made.confirmed).txHash).toBe(made.txHash);
  });

  test('asks again after a wrong code, and for another one where the person wants it', async () => {
    const one = person();
    const requests: (readonly [string | undefined, number | undefined])[] = [];
    const answers = ['x', '', undefined];
    const made = await one.register({
      askCode({ problem, attemptsRemaining }) {
        requests.push([problem, attemptsRemaining]);
        return answers.shift() ?? ` ${world.t.codeFor(one.email).slice(0, 3)} ${world.t.codeFor(one.email).slice(3)} `;
      },
    });
    expect(requests).toEqual([
      [undefined, undefined],
      ['Incorrect code', 4],
      [undefined, undefined],
    ]);
    expect(world.t.mailsTo(one.email)).toHaveLength(2);
    expect((await made.confirmed).proven).toBe(true);
  });

  test('sends another code where the first has ended', async () => {
    const one = person();
    const problems: (string | undefined)[] = [];
    await one.register({
      askCode({ problem }) {
        problems.push(problem);
        if (problems.length === 1) world.later(91);
        return world.t.codeFor(one.email);
      },
    });
    expect(problems).toEqual([undefined, 'Code expired']);
    expect(world.t.mailsTo(one.email)).toHaveLength(2);
  });

  test('sends another code after the fifth wrong one, and says why before the person types it', async () => {
    const one = person();
    const problems: (string | undefined)[] = [];
    const made = await one.register({
      askCode({ problem }) {
        problems.push(problem);
        const code = world.t.codeFor(one.email);
        if (problems.length > 5) return code;
        return otherCode(code);
      },
    });
    expect(problems).toEqual([undefined, ...Array(4).fill('Incorrect code'), 'Too many attempts']);
    expect(world.t.mailsTo(one.email)).toHaveLength(2);
    expect((await made.confirmed).proven).toBe(true);
  });

  test('throws what the vault refuses', async () => {
    const one = person();
    const bad = createClient({ url: world.url, storage: null }).register({ email: 'nobody', askCode: () => null });
    expect(await faultOf(bad)).toMatchObject({ status: 400, error: 'Invalid identifier' });
    await (await one.register()).confirmed;
    // Another person with the same address, whose claim waits for its own proof: it takes the address.
    const made = await one.register({}, world.device());
    expect((await made.confirmed).did).toBe(made.did);
  });
});

describe('after a reload, register', () => {
  test('goes on with the code that was sent', async () => {
    const one = person();
    expect(await faultOf(one.register({ askCode: () => null }))).toMatchObject({ error: 'cancelled' });
    expect(one.page().pending()).toMatchObject({ identifier: one.email, channel: 'email' });
    await one.register();
    expect(world.t.mailsTo(one.email)).toHaveLength(1);
  });

  test('goes on with the passkey that was made', async () => {
    const one = person();
    const { get } = navigator.credentials;
    navigator.credentials.get = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
    expect(await faultOf(one.register())).toMatchObject({ error: 'passkey_refused' });
    navigator.credentials.get = get;
    const made = await one.register({ askCode: notAsked });
    expect(one.device.keyring.passkeys.size).toBe(1);
    expect((await made.confirmed).proven).toBe(true);
  });

  test('goes on with the request whose answer was lost, and asks the person nothing', async () => {
    const one = person();
    one.line.trouble = async (request, pass) => {
      const reply = await pass();
      return /\/api\/dids/.test(request.url) ? broken() : reply;
    };
    expect(await faultOf(one.register())).toMatchObject({ error: 'unreachable' });
    one.line.trouble = undefined;
    const before = one.device.keyring.asked;
    const made = await one.register({ askCode: notAsked });
    expect((await made.confirmed).proven).toBe(true);
    expect(one.device.keyring.asked).toBe(before);
    expect(world.t.mailsTo(one.email)).toHaveLength(1);
  });

  test('asks for another code where the attestation has ended, and keeps the passkey', async () => {
    const one = person();
    one.line.trouble = (request, pass) => (/\/api\/dids/.test(request.url) ? broken() : pass());
    expect(await faultOf(one.register())).toMatchObject({ error: 'unreachable' });
    one.line.trouble = undefined;
    world.later(400);
    const made = await one.register();
    expect((await made.confirmed).proven).toBe(true);
    expect(one.device.keyring.passkeys.size).toBe(1);
    expect(world.t.mailsTo(one.email)).toHaveLength(2);
  });

  test('asks for another code where the vault does not know its own word any more', async () => {
    const one = person();
    one.line.trouble = (request, pass) => (/\/api\/dids/.test(request.url) ? broken() : pass());
    expect(await faultOf(one.register())).toMatchObject({ error: 'unreachable' });
    one.line.trouble = undefined;
    const name = `vault.register.${new URL(world.url).origin}`;
    const kept = one.storage.getItem(name) ?? '';
    one.storage.setItem(name, kept.replaceAll(/"signature":"0x[0-9a-f]{64}"/g, `"signature":"0x${'00'.repeat(32)}"`));
    expect((await (await one.register()).confirmed).proven).toBe(true);
    expect([one.device.keyring.passkeys.size, world.t.mailsTo(one.email).length]).toEqual([1, 2]);
  });

  test('of another address begins at the beginning', async () => {
    const one = person();
    await faultOf(one.register({ askCode: () => null }));
    const other = `other-${one.email}`;
    const asked = on(one.device, () => one.page().register({ email: other, askCode: () => world.t.codeFor(other) }));
    expect((await asked).identifier).toBe(other);
  });

  test('begins at the beginning once it is forgotten', async () => {
    const one = person();
    await faultOf(one.register({ askCode: () => null }));
    one.page().forget();
    expect(one.page().pending()).toBeUndefined();
    await one.register();
    expect(world.t.mailsTo(one.email)).toHaveLength(2);
  });
});

describe('signIn', () => {
  test('finds the person by the passkey alone, and hands over what a server checks', async () => {
    const one = person();
    const made = await one.register();
    await made.confirmed;
    const found = await on(one.device, () => one.page().signIn({ challenge: 'from-my-server' }));
    expect(found).toMatchObject({ did: made.did, smartAccount: made.smartAccount.toLowerCase(), proven: true });
    const client = JSON.parse(Buffer.from(found.assertion.clientDataJSON, 'base64url').toString());
    expect(Buffer.from(client.challenge, 'base64url').toString()).toBe('from-my-server');
  });

  test('knows nobody by a passkey that was not registered', async () => {
    const one = person();
    await on(one.device, () =>
      navigator.credentials.create({ publicKey: { user: { id: new Uint8Array(16) } } as never }),
    );
    expect(await faultOf(on(one.device, () => one.page().signIn()))).toMatchObject({ error: 'not_registered' });
  });

  test('does not take another’s registration of the same credential id', async () => {
    const one = person();
    const made = await one.register();
    await made.confirmed;
    // Somebody's authenticator answers with the public id of another's passkey.
    const thief = world.device();
    const [name = ''] = one.device.keyring.passkeys.keys();
    await on(thief, () => navigator.credentials.create({ publicKey: { user: { id: new Uint8Array(16) } } as never }));
    const [own] = thief.keyring.passkeys.values();
    if (own) thief.keyring.passkeys.set(name, own);
    thief.keyring.pick = name;
    expect(await faultOf(on(thief, () => one.page().signIn()))).toMatchObject({ error: 'not_registered' });
  });
});
