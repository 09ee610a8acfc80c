import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { type AppWorld, startAppWorld } from '../support/client-app.ts';

if (chromium) {
  describe('an app, at a vault that does not relay', () => {
    let world: AppWorld;
    beforeAll(async () => {
      world = await startAppWorld();
    });
    afterAll(() => world.stop());
    afterEach(() => world.closePages());

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
      await page.waitForFunction('window.isAtProof', { timeout: 60_000 });
      const sent = () => world.upstream.calls.filter(({ method }) => method === 'eth_sendUserOperation').length;
      const before = sent();
      await page.reload();
      const made = (await page.evaluate(registerAs(subject))) as { steps: string[]; confirmed: object };
      expect(made.confirmed).toMatchObject({ proven: true });
      expect(made.steps).toEqual(['proof', 'record', 'submitted', 'confirmed']);
      expect([sent(), world.t.mailsTo('twice@example.com').length]).toEqual([before, 1]);
    });
  });
}
