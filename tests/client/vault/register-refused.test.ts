import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { faultOf, newPerson, notAsked } from '../../support/client-person.ts';
import { broken, type ClientWorld, on, startClientWorld } from '../../support/client-world.ts';

let world: ClientWorld;
beforeAll(async () => {
  world = await startClientWorld();
});
afterAll(() => world.stop());

const isRegistration = ({ url, method }: Request) => method === 'POST' && new URL(url).pathname === '/api/dids';
const isLookup = ({ url }: Request) => new URL(url).pathname === '/api/dids/lookup';
const inUse = () =>
  Response.json({ error: 'idempotency_key_in_use' }, { status: 409, headers: { 'retry-after': '1' } });

test('a vault that is at the request still is waited for, and nothing is forgotten meanwhile', async () => {
  const one = newPerson(world);
  const pending: unknown[] = [];
  one.line.trouble = async (request, pass) => {
    // For longer than four tries; the look-up shows nothing before it is queued.
    if (pending.length > 5) return pass();
    if (isLookup(request)) return Response.json({ error: 'not_found' }, { status: 404 });
    if (!isRegistration(request)) return pass();
    pending.push(one.page().pending()?.request);
    return inUse();
  };
  const made = await one.register();
  expect((await made.confirmed).proven).toBe(true);
  expect(pending.length).toBeGreaterThan(4);
  expect(pending.every((request) => request !== undefined)).toBe(true);
  expect(one.device.keyring.passkeys.size).toBe(1);
});

describe('what refuses the request once leaves the passkey', () => {
  test.each([
    ['a proxy’s page', () => new Response('<h1>Forbidden</h1>', { status: 403 }), 'unexpected_answer', 1],
    [
      'an origin that the vault does not take',
      () => Response.json({ error: 'proof_invalid', reason: 'origin' }, { status: 403 }),
      'proof_invalid',
      2,
    ],
    ['the vault’s own trouble', () => Response.json({ error: 'internal_error' }, { status: 500 }), 'internal_error', 1],
  ] as const)('%s', async (_, refuse, word, prompts) => {
    const one = newPerson(world);
    one.line.trouble = async (request, pass) => (isRegistration(request) ? refuse() : pass());
    expect(await faultOf(one.register())).toMatchObject({ error: word });
    one.line.trouble = undefined;
    const made = await one.register({ askCode: notAsked });
    expect((await made.confirmed).proven).toBe(true);
    // A request that the vault did not judge is sent again as it is.
    expect([one.device.keyring.passkeys.size, one.device.keyring.asked]).toEqual([1, prompts]);
    expect(world.t.mailsTo(one.email)).toHaveLength(1);
  });

  test('an identity that cannot be had begins anew', async () => {
    const one = newPerson(world);
    one.line.trouble = async (request, pass) =>
      isRegistration(request) ? Response.json({ error: 'identifier_taken' }, { status: 409 }) : pass();
    expect(await faultOf(one.register())).toMatchObject({ error: 'identifier_taken' });
    expect(one.page().pending()).toBeUndefined();
  });

  test('a request whose answer was lost is found, although its repetition is refused', async () => {
    const one = newPerson(world);
    let times = 0;
    one.line.trouble = async (request, pass) => {
      if (isLookup(request) && times === 0) return broken();
      if (!isRegistration(request)) return pass();
      if (times++ === 0) await pass();
      return Response.json({ error: 'did_taken' }, { status: 409 });
    };
    const made = await one.register();
    expect((await made.confirmed).did).toBe(made.did);
  });
});

describe('after submitted', () => {
  test('what is no refusal does not end the wait', async () => {
    const one = newPerson(world);
    let looks = 0;
    let isBroken = true;
    one.line.trouble = async (request, pass) => {
      if (isRegistration(request)) {
        // Sent, and the answer never comes; its repetition is in use.
        if (!isBroken) return inUse();
        isBroken = false;
        await pass();
        return broken();
      }
      if (!isLookup(request) || looks++ === 0) return pass();
      const trouble = [
        () => Response.json({ error: 'shutting_down' }, { status: 503 }),
        () => Response.json({ error: 'internal_error' }, { status: 500 }),
        () => Response.json({ error: 'rate_limited' }, { status: 429, headers: { 'retry-after': '31' } }),
      ][looks - 2];
      return trouble && looks < 4 ? trouble() : pass();
    };
    const made = await one.register();
    expect((await made.confirmed).status).toBe('confirmed');
  });

  test('a chain that stands still is waited for ten minutes', async () => {
    const one = newPerson(world);
    one.line.trouble = async (request, pass) => {
      const response = await pass();
      if (!isLookup(request) || !response.ok) return response;
      return Response.json({ ...((await response.json()) as object), status: 'submitted' });
    };
    const made = await one.register();
    const waiting = faultOf(made.confirmed);
    await world.allLater(601);
    expect(await waiting).toMatchObject({ error: 'not_confirmed_yet' });
    // It goes on with what was sent, when it is called again.
    one.line.trouble = undefined;
    expect((await (await one.register({ askCode: notAsked })).confirmed).did).toBe(made.did);
  });

  test('a registration that the vault does not know any more has failed', async () => {
    const one = newPerson(world);
    let isGone = false;
    one.line.trouble = async (request, pass) =>
      isGone && isLookup(request) ? Response.json({ error: 'not_found' }, { status: 404 }) : pass();
    const made = await one.register({
      onStep(step) {
        if (step === 'submitted') isGone = true;
      },
    });
    expect(await faultOf(made.confirmed)).toMatchObject({ error: 'registration_failed' });
    expect(one.page().pending()).toBeUndefined();
  });

  test('signIn says that the registration is on its way', async () => {
    const one = newPerson(world);
    await world.chain.rpc('evm_setAutomine', [false]);
    try {
      const made = await one.register();
      expect(made.status).toBe('submitted');
      const fault = await faultOf(on(one.device, () => one.page().signIn()));
      expect(fault).toMatchObject({ error: 'not_confirmed_yet', retryAfter: 2 });
      await world.chain.rpc('evm_setAutomine', [true]);
      await world.chain.mine();
      await made.confirmed;
      const found = await on(one.device, () => one.page().signIn({ rpId: 'localhost' }));
      expect(found).toMatchObject({ did: made.did, proven: true });
    } finally {
      await world.chain.rpc('evm_setAutomine', [true]);
    }
  });
});

describe('a vault that is older than the client', () => {
  test('is refused before a code, and no RP ID is guessed', async () => {
    const one = newPerson(world);
    one.line.trouble = async (request, pass) => {
      const response = await pass();
      if (new URL(request.url).pathname !== '/api/status') return response;
      const { chain, chainId, rpc, database, version } = (await response.json()) as Record<string, unknown>;
      return Response.json({ chain, chainId, rpc, database, version });
    };
    expect(await faultOf(one.register())).toMatchObject({ error: 'vault_too_old' });
    expect(await faultOf(on(one.device, () => one.page().signIn()))).toMatchObject({ error: 'vault_too_old' });
    expect([one.device.keyring.asked, world.t.mailsTo(one.email).length]).toEqual([0, 0]);
  });
});
