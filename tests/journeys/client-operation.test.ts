import { afterAll, beforeAll, expect, test } from 'bun:test';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AskCode } from '../../client/vault/index.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { LOCAL_MONEY, startSponsoredBundler } from '../support/bundler.ts';
import { chainVars } from '../support/chain-vars.ts';
import { faultOf, newPerson, notAsked } from '../support/client-person.ts';
import { type ClientWorld, on, openClientWorld } from '../support/client-world.ts';
import { startTestChain, type TestChain } from '../support/onchain.ts';
import { until } from '../support/until.ts';

// An app at a vault that does not relay. That the shipped client does the same in a browser is in `client.test.ts`.

let world: ClientWorld<TestChain>;
let bundler: Awaited<ReturnType<typeof startSponsoredBundler>>;
/** By how many milliseconds the clock of the page that runs is off. */
const off = new AsyncLocalStorage<number>();
const { now } = Date;
beforeAll(async () => {
  const chain = await startTestChain();
  bundler = await startSponsoredBundler(chain);
  const vars = { ...chainVars(chain.url, await deployContracts(chain.rpc)), BUNDLER_URL: bundler.url, ...LOCAL_MONEY };
  const wide = { RATE_LIMIT_PROXY_PER_IP: '100000', MAX_REGISTRATIONS_PER_IP: '100' };
  world = await openClientWorld(chain, { ...vars, ...wide });
  Date.now = () => now() + (off.getStore() ?? 0);
});
afterAll(async () => {
  Date.now = now;
  await bundler.stop();
  await world.stop();
});

let handles = 0;
/** Somebody with a handle and an address, and what each page of theirs registers them by. */
function somebody() {
  const one = newPerson(world);
  let sent = 0;
  /** Takes an operation in the bundler's place; `send` hands it over, also once its page is left. */
  let keep: ((send: () => Promise<Response>) => void) | undefined;
  one.line.trouble = async (request, pass) => {
    if (!request.url.endsWith('/api/bundler')) return pass();
    const [{ url, headers }, body] = [request, await request.clone().text()];
    if ((JSON.parse(body) as { method: string }).method !== 'eth_sendUserOperation') return pass();
    sent++;
    if (!keep) return pass();
    keep(() => fetch(url, { method: 'POST', headers, body }));
    return Response.json({ jsonrpc: '2.0', id: 1, result: `0x${'cd'.repeat(32)}` });
  };
  const askCode: AskCode = () => world.t.codeFor(one.email);
  const email = { email: one.email, askCode };
  const handle = { handle: `tea-lover-${handles++}` };
  /** A page that was just opened: it has the storage of those before, and registers to the end. */
  const register = async (subject: typeof email | typeof handle, more: Parameters<typeof one.register>[0] = {}) => {
    const steps: string[] = [];
    const onStep = (step: Parameters<NonNullable<typeof more.onStep>>[0]) => {
      steps.push(step);
      return more.onStep?.(step);
    };
    const made = await on(one.device, () => one.page().register({ ...subject, ...more, onStep }));
    return { ...made, confirmed: await made.confirmed, steps };
  };
  const { keyring } = one.device;
  return {
    ...{ email, handle, register, keyring, line: one.line },
    sent: () => sent,
    mails: () => world.t.mailsTo(one.email).length,
    keepSent: (own: typeof keep) => {
      keep = own;
    },
  };
}

/** Begins to register at a page that is left once `isThere` resolves. */
async function leave(begin: (signal: AbortSignal) => Promise<unknown>, isThere: Promise<unknown>): Promise<void> {
  const end = new AbortController();
  const begun = faultOf(begin(end.signal));
  await Promise.race([isThere, begun]);
  end.abort(new Error('left'));
  expect(await begun).toMatchObject({ message: 'left' });
}

test('the person’s account registers the DID, and it is recorded with a proof', async () => {
  const one = somebody();
  const made = await one.register(one.email);
  expect(made.steps).toEqual(['code', 'passkey', 'operation', 'proof', 'record', 'submitted', 'confirmed']);
  expect(made.confirmed).toMatchObject({ did: made.did, proven: true, status: 'confirmed' });
});

test('a handle leads to the DID on-chain', async () => {
  const one = somebody();
  const made = await one.register(one.handle);
  expect(made.confirmed).toMatchObject({
    did: made.did,
    channel: 'handle',
    proofs: { identifier: 'alias', controller: 'passkey', did: 'address' },
  });
});

test('after a reload the operation that was sent is found, and no second one signed', async () => {
  const one = somebody();
  const { promise, resolve } = Promise.withResolvers<void>();
  const onStep = (step: string) => {
    if (step !== 'proof') return undefined;
    resolve();
    return new Promise<void>(() => {});
  };
  await leave((signal) => one.register(one.email, { signal, onStep }), promise);
  expect(one.sent()).toBe(1);
  const made = await one.register({ ...one.email, askCode: notAsked });
  expect(made.confirmed).toMatchObject({ proven: true });
  expect(made.steps).toEqual(['proof', 'record', 'submitted', 'confirmed']);
  expect([one.sent(), one.mails()]).toEqual([1, 1]);
});

test.each(['operation', 'proof'])('a handle goes on after the passkey was refused at its %s', async (at) => {
  const one = somebody();
  const onStep = (step: string) => {
    if (step === at) one.keyring.isWilling = false;
  };
  expect(await faultOf(one.register(one.handle, { onStep }))).toMatchObject({ error: 'passkey_refused' });
  one.keyring.isWilling = true;
  const made = await one.register(one.handle);
  expect(made.confirmed).toMatchObject({ channel: 'handle', proven: true, status: 'confirmed' });
  expect(made.steps[0]).toBe(at);
  expect(one.keyring.passkeys.size).toBe(1);
});

test.each([
  [-7, 'handle'],
  [7, 'handle'],
  [7, 'email'],
] as const)('a device whose clock is off by %d minutes registers by %s', async (minutes, kind) => {
  const one = somebody();
  const made = await off.run(minutes * 60_000, () => one.register(one[kind]));
  expect(made.confirmed).toMatchObject({ proven: true, status: 'confirmed' });
});

test('after a reload the operation that was sent and is in no block is waited for', async () => {
  const one = somebody();
  const { promise, resolve } = Promise.withResolvers<() => Promise<Response>>();
  one.keepSent(resolve);
  await leave((signal) => one.register(one.email, { signal }), promise);
  const [asked, looks] = [one.keyring.asked, one.line.asked.length];
  const going = one.register(one.email);
  // It looks, finds nothing, and goes on looking.
  const since = () => one.line.asked.slice(looks).filter((line) => line === 'GET /pay/outcome');
  await until('three looks', () => since().length > 3);
  const send = await promise;
  await send();
  // One prompt: that of the proof.
  expect((await going).confirmed).toMatchObject({ proven: true });
  expect([one.keyring.asked - asked, one.sent()]).toEqual([1, 1]);
});

test('no operation is sent after the signal was aborted', async () => {
  const one = somebody();
  const end = new AbortController();
  const { get } = navigator.credentials;
  // The person has signed, and leaves at the same moment.
  navigator.credentials.get = async (options) => {
    const made = await get.call(navigator.credentials, options);
    end.abort(new Error('enough'));
    return made;
  };
  const said = await faultOf(one.register(one.handle, { signal: end.signal }));
  navigator.credentials.get = get;
  expect(said).toMatchObject({ message: 'enough' });
  expect(one.sent()).toBe(0);
});
