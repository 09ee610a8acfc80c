import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type AppWorld, startAppWorld } from '../support/client-app.ts';
import { keepSent } from '../support/pay-windows.ts';
import { until } from '../support/until.ts';

describe.skipIf(!chromium)('an app, at a vault that does not relay', () => {
  let world: AppWorld;
  beforeAll(async () => {
    world = await startAppWorld({ MAX_REGISTRATIONS_PER_IP: '100' }, { pagesOnly: true });
  });
  afterAll(() => world.stop());
  afterEach(() => world.closePages());

  /** The passkey is refused once, at the first prompt of this step. */
  const refusedAt = (step: string) => `{
      const { get } = CredentialsContainer.prototype;
      onStep = (step) => {
        steps.push(step);
        if (step !== '${step}') return;
        CredentialsContainer.prototype.get = () => {
          CredentialsContainer.prototype.get = get;
          return Promise.reject(new DOMException('no', 'NotAllowedError'));
        };
      };
    }`;
  const registerAs = (subject: string) =>
    `${world.client}.then(async (vault) => {
        const steps = [];
        const made = await vault.register({ ${subject}, onStep: (step) => { steps.push(step); } });
        return { ...made, confirmed: await made.confirmed, steps };
      })`;

  test('has the person’s account register the DID, and records it with a proof', async () => {
    world.putBlank(" 'wasm-unsafe-eval'");
    const { page } = await world.open('/blank');
    await page.exposeFunction('codeFor', world.t.codeFor);
    const made = (await page.evaluate(
      registerAs("email: 'own@example.com', askCode: () => codeFor('own@example.com')"),
    )) as {
      did: string;
      steps: string[];
      confirmed: object;
    };
    expect(made.steps).toEqual(['code', 'passkey', 'operation', 'proof', 'record', 'submitted', 'confirmed']);
    expect(made.confirmed).toMatchObject({ did: made.did, proven: true, status: 'confirmed' });
  });

  test('registers a handle, which leads to the DID on-chain', async () => {
    world.putBlank(" 'wasm-unsafe-eval'");
    const { page } = await world.open('/blank');
    const made = (await page.evaluate(registerAs("handle: 'tea-lover'"))) as { did: string; confirmed: object };
    expect(made.confirmed).toMatchObject({
      did: made.did,
      channel: 'handle',
      proofs: { identifier: 'alias', controller: 'passkey', did: 'address' },
    });
  });

  test('after a reload finds the operation that was sent, and signs no second one', async () => {
    world.putBlank(" 'wasm-unsafe-eval'");
    const { page } = await world.open('/blank');
    await page.exposeFunction('codeFor', world.t.codeFor);
    const subject = "email: 'twice@example.com', askCode: () => codeFor('twice@example.com')";
    await page.evaluate(`${world.client}.then((vault) => {
        const onStep = (step) => step === 'proof' ? new Promise(() => { window.isAtProof = true; }) : undefined;
        vault.register({ ${subject}, onStep });
      })`);
    await page.waitForFunction('window.isAtProof');
    const sent = () => world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation').length;
    const before = sent();
    await page.reload();
    const made = (await page.evaluate(registerAs(subject))) as { steps: string[]; confirmed: object };
    expect(made.confirmed).toMatchObject({ proven: true });
    expect(made.steps).toEqual(['proof', 'record', 'submitted', 'confirmed']);
    expect([sent(), world.t.mailsTo('twice@example.com').length]).toEqual([before, 1]);
  });

  test.each(['operation', 'proof'])('a handle goes on after the passkey was refused at its %s', async (at) => {
    world.putBlank(" 'wasm-unsafe-eval'");
    const { page, passkeys } = await world.open('/blank');
    const subject = `handle: 'refused-at-${at}'`;
    const word = await page.evaluate(`${world.client}.then((vault) => {
        const steps = [];
        let onStep;
        ${refusedAt(at)}
        return vault.register({ ${subject}, onStep }).catch(({ error }) => error);
      })`);
    expect(word).toBe('passkey_refused');
    await page.reload();
    const made = (await page.evaluate(registerAs(subject))) as { steps: string[]; confirmed: object };
    expect(made.confirmed).toMatchObject({ channel: 'handle', proven: true, status: 'confirmed' });
    expect(made.steps[0]).toBe(at);
    expect(passkeys.ids()).toHaveLength(1);
  });

  test.each([
    [-7, "handle: 'behind'"],
    [7, "handle: 'ahead'"],
    [7, "email: 'ahead@example.com', askCode: () => codeFor('ahead@example.com')"],
  ])('a device whose clock is off by %d minutes registers %s', async (minutes, subject) => {
    world.putBlank(" 'wasm-unsafe-eval'");
    const { page } = await world.open('/blank');
    await page.exposeFunction('codeFor', world.t.codeFor);
    await page.evaluate(`{ const { now } = Date; Date.now = () => now() + ${minutes * 60_000}; }`);
    const made = (await page.evaluate(registerAs(subject))) as { confirmed: object };
    expect(made.confirmed).toMatchObject({ proven: true, status: 'confirmed' });
  });

  test('after a reload waits for the operation that was sent and is in no block', async () => {
    world.putBlank(" 'wasm-unsafe-eval'");
    const { page } = await world.open('/blank');
    await page.exposeFunction('codeFor', world.t.codeFor);
    const subject = "email: 'mempool@example.com', askCode: () => codeFor('mempool@example.com')";
    const kept = keepSent(world);
    const sent = () => world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation').length;
    const before = sent();
    await page.evaluate(`${world.client}.then((vault) => { vault.register({ ${subject} }); })`);
    await until('the operation is sent', () => sent() > before);
    await page.reload();
    const going = page.evaluate(`{
        const { get } = CredentialsContainer.prototype;
        window.asked = 0;
        CredentialsContainer.prototype.get = function (...given) { window.asked++; return get.apply(this, given); };
        ${registerAs(subject)}.then(({ confirmed }) => ({ confirmed, asked: window.asked }));
      }`);
    // It looks, finds nothing, and goes on looking.
    for (let looks = 0; looks < 3; looks++)
      await page.waitForResponse((response) => response.url().includes('/pay/outcome'));
    await kept.release();
    // One prompt: that of the proof.
    expect(await going).toMatchObject({ confirmed: { proven: true }, asked: 1 });
    expect(sent()).toBe(before + 1);
  });

  test('says that the page’s policy forbids what the client has to load, and goes on once it does not', async () => {
    world.putBlank();
    const { page } = await world.open('/blank');
    const refused = await page.evaluate(
      `${world.client}.then((vault) => vault.register({ handle: 'policy' })).catch(({ error, hint }) => ({ error, hint }))`,
    );
    expect(refused).toMatchObject({ error: 'not_loaded', hint: expect.stringContaining('CSP') });
    world.putBlank(" 'wasm-unsafe-eval'");
    await page.reload();
    const made = (await page.evaluate(registerAs("handle: 'policy'"))) as { confirmed: object };
    expect(made.confirmed).toMatchObject({ proven: true });
  });

  test('sends no operation after its signal was aborted', async () => {
    world.putBlank(" 'wasm-unsafe-eval'");
    const { page } = await world.open('/blank');
    const sent = () => world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation').length;
    const before = sent();
    const said = await page.evaluate(`${world.client}.then((vault) => {
        const end = new AbortController();
        const { get } = CredentialsContainer.prototype;
        // The person has signed, and leaves at the same moment.
        CredentialsContainer.prototype.get = async function (...given) {
          const made = await get.apply(this, given);
          end.abort(new Error('enough'));
          return made;
        };
        return vault.register({ handle: 'aborted', signal: end.signal }).catch(({ message }) => message);
      })`);
    expect([said, sent()]).toEqual(['enough', before]);
  });
});
