import { describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { storedAccounts } from '../support/account-page.ts';
import { type Arrival, type AuthorizeWorld, visit, visits } from '../support/authorize-page.ts';
import { press } from '../support/pay.ts';
import { hearSignals } from '../support/signals.ts';
import { until } from '../support/until.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: AuthorizeWorld;
  const { come, address, signUp } = visits((opened) => {
    world = opened;
  });
  /** Who signs up by the app's link, whom the tests share; and what her page tells the managers of passkeys. */
  const begin = async () => {
    const visitor = await visit(world, world.app.origin);
    const told = await hearSignals(visitor.page);
    await press(visitor.page, 'sign-up');
    const start = await visitor.screen('start');
    return { ...(await signUp(visitor)), start, told };
  };
  let begun: ReturnType<typeof begin> | undefined;
  const person = () => {
    begun ??= begin();
    return begun;
  };
  const didOf = ({ answer }: Arrival) => answer?.['did'];

  describe('an app with one link', () => {
    test('a new person: address, code, passkey, and the app knows who it is', async () => {
      const { start, email, arrival } = await person();
      expect(start).toContain(`Continue to ${new URL(world.app.origin).host}`);
      const { query, status, answer } = arrival;
      expect([status, query['iss']]).toEqual([200, world.origin]);
      expect(answer?.['did']).toMatch(/^did:pkh:eip155:84532:0x[0-9a-fA-F]{40}$/);
      expect(String(answer?.['did']).toLowerCase()).toEndWith(String(answer?.['account']).toLowerCase());
      expect(answer).toMatchObject({ status: 'confirmed', email, email_verified: true });
      // The code is used up, and nothing else of value was in the address bar.
      expect(Object.keys(query).sort()).toEqual(['code', 'iss', 'state']);
    });

    test('the account that was made here pays and is managed on this device, too', async () => {
      const { context, arrival } = await person();
      const { page } = await come(undefined, { context });
      expect(await storedAccounts(page)).toEqual([String(arrival.answer?.['account']).toLowerCase()]);
    });

    test('a returning person: one press of a passkey, on a device that knows nothing too', async () => {
      const { page, email, told, arrival, ...first } = await person();
      const did = didOf(arrival);
      await page.goto(world.app.link());
      expect(await first.screen('start')).toContain('Welcome back');
      await press(page, 'sign-in');
      expect(didOf(await first.arrive())).toBe(did);
      // The manager of the passkey hears that it is accepted, and of no other.
      await until('the page tells', async () => (await told()).length > 0);
      const [said = '', ...others] = await told();
      expect(others).toEqual([]);
      expect(said).toStartWith('signalAllAcceptedCredentials ');
      const { rpId, allAcceptedCredentialIds } = JSON.parse(said.slice(said.indexOf('{')));
      expect([rpId, allAcceptedCredentialIds]).toEqual(['localhost', first.passkeys.ids()]);
      expect(first.passkeys.signalled.deleted).toEqual([]);
      const elsewhere = await come(undefined, { passkeys: first.passkeys });
      expect(await elsewhere.screen('start')).toContain('Continue to');
      await press(elsewhere.page, 'sign-in');
      const { answer } = await elsewhere.arrive();
      expect(answer).toMatchObject({ did, email });
    });
  });

  describe('a reload goes on where the page was', () => {
    test('at the passkey, and after it was made: there is one, and it signs', async () => {
      const [email, visitor] = [address(), await come()];
      await visitor.enter(email);
      await visitor.typeCode(email);
      await visitor.screen('passkey');
      await visitor.page.reload();
      expect(await visitor.screen('passkey')).toContain('Create your passkey');
      // The vault is away when the passkey has been made: its prediction of the account fails.
      await visitor.page.setRequestInterception(true);
      visitor.page.on('request', (request) =>
        request.url().includes('/predict') ? request.abort() : request.continue(),
      );
      await press(visitor.page, 'passkey-go');
      expect(await visitor.screen('problem')).toContain('The service cannot be reached');
      visitor.page.removeAllListeners('request');
      await visitor.page.setRequestInterception(false);
      await visitor.page.reload();
      expect(await visitor.screen('passkey')).toContain('Your passkey is made.');
      await press(visitor.page, 'passkey-go');
      expect(didOf(await visitor.arrive())).toStartWith('did:pkh:');
      expect(visitor.passkeys.ids()).toHaveLength(1);
    });
  });

  describe('passkeys that nobody has to look for', () => {
    test('the address field suggests the passkey of the device; taking it signs in', async () => {
      const { passkeys, arrival } = await person();
      const again = await come(undefined, { passkeys: passkeys.suggested() });
      const { answer } = await again.arrive();
      expect(answer?.['sub']).toBeString();
      expect(answer?.['sub']).toBe(arrival.answer?.['sub']);
    });

    test('a sign-in that the vault refuses says nothing of its passkey', async () => {
      const { passkeys } = await person();
      const stranger = await come(undefined, { passkeys });
      const told = await hearSignals(stranger.page);
      await stranger.page.setRequestInterception(true);
      stranger.page.on('request', (request) => {
        const isProof = request.url().endsWith('/authorize/code') && request.postData()?.includes('"proof"');
        if (!isProof) return void request.continue();
        const body = JSON.stringify({ error: 'proof_invalid', reason: 'signature' });
        void request.respond({ status: 403, contentType: 'application/json', body });
      });
      await press(stranger.page, 'sign-in');
      await stranger.screen('problem');
      expect(await told()).toEqual([]);
    });

    test('the field has what passkeys there are, and a suggestion that waits is withdrawn once the person goes another way', async () => {
      const visitor = await come();
      await visitor.screen('start');
      expect(await visitor.page.$eval('#address', (field) => field.getAttribute('autocomplete'))).toBe(
        'email webauthn',
      );
      await visitor.page.evaluateOnNewDocument(() => {
        const waiting = { was: 'not asked' };
        Object.assign(globalThis, { waiting });
        Object.assign(PublicKeyCredential, { isConditionalMediationAvailable: async () => true });
        // A person who takes no suggestion.
        navigator.credentials.get = (options) =>
          new Promise((_, reject) => {
            waiting.was = `${options?.mediation}`;
            options?.signal?.addEventListener('abort', () => {
              waiting.was = 'withdrawn';
              reject(options.signal?.reason);
            });
          });
      });
      const is = (state: string) =>
        visitor.page.waitForFunction(
          (expected) => (globalThis as unknown as { waiting: { was: string } }).waiting.was === expected,
          {},
          state,
        );
      await visitor.page.reload();
      await is('conditional');
      await visitor.enter(address());
      await is('withdrawn');
      await visitor.screen('code');
    });

    test('a device without a passkey leads to the form at once; the second press asks for other devices', async () => {
      const visitor = await come();
      await visitor.page.evaluateOnNewDocument(() => {
        const asked: unknown[] = [];
        Object.assign(globalThis, { asked });
        const get = navigator.credentials.get.bind(navigator.credentials);
        navigator.credentials.get = (options) => {
          asked.push((options as { uiMode?: string }).uiMode);
          return get(options);
        };
      });
      await visitor.page.reload();
      await visitor.screen('start');
      await press(visitor.page, 'sign-in');
      expect(await visitor.screen('start-notice')).toBe(
        'No passkey of this device was used. For one on another device, press the button again.',
      );
      expect(await visitor.page.evaluate(() => document.activeElement?.id)).toBe('address');
      await press(visitor.page, 'sign-in');
      await visitor.page.waitForFunction(() =>
        document.getElementById('start-notice')?.textContent?.startsWith('No passkey was used.'),
      );
      const asked = await visitor.page.evaluate(() => (globalThis as unknown as { asked: unknown[] }).asked);
      expect(asked).toEqual(['immediate', null]);
      const email = address();
      await visitor.enter(email);
      expect(await visitor.screen('code')).toContain(email);
    });
  });
});
