import { describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type AuthorizeWorld, goThrough, visits } from '../support/authorize-page.ts';
import { press } from '../support/pay.ts';
import { hearSignals } from '../support/signals.ts';
import { until } from '../support/until.ts';

// Passkeys that nobody has to look for, at /authorize.

describe.skipIf(!chromium)('in Chromium', () => {
  let world: AuthorizeWorld;
  const { come, address } = visits((opened) => {
    world = opened;
  });
  const subject = ({ answer }: { readonly answer?: Readonly<Record<string, unknown>> }) => answer?.['sub'];

  test('the address field suggests the passkey of the device; taking it signs in', async () => {
    const visitor = await come();
    const before = await goThrough(visitor, address());
    const again = await come(world.app.link(), { passkeys: visitor.passkeys.suggested() });
    const after = await again.arrive();
    expect(subject(after)).toBe(subject(before));
    expect(subject(after)).toBeString();
  });

  test('after a sign-in the manager of the passkey hears that it is accepted, and of no other', async () => {
    const visitor = await come();
    const told = await hearSignals(visitor.page);
    await goThrough(visitor, address());
    await visitor.page.goto(world.app.link());
    await press(visitor.page, 'sign-in');
    await visitor.arrive();
    await until('the page tells', async () => (await told()).length > 0);
    const [said = '', ...others] = await told();
    expect(others).toEqual([]);
    expect(said).toStartWith('signalAllAcceptedCredentials ');
    const { rpId, allAcceptedCredentialIds } = JSON.parse(said.slice(said.indexOf('{')));
    expect([rpId, allAcceptedCredentialIds]).toEqual(['localhost', visitor.passkeys.ids()]);
    expect(visitor.passkeys.signalled.deleted).toEqual([]);
  });

  test('a sign-in that the vault refuses says nothing of its passkey', async () => {
    const visitor = await come();
    await goThrough(visitor, address());
    const stranger = await come(world.app.link(), { passkeys: visitor.passkeys });
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

  test('the field says to the browser that passkeys belong to it', async () => {
    const visitor = await come();
    await visitor.screen('start');
    expect(await visitor.page.$eval('#address', (field) => field.getAttribute('autocomplete'))).toBe('email webauthn');
  });

  test('a suggestion that waits is withdrawn once the person goes another way', async () => {
    const visitor = await come();
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
