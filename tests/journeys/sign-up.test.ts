import { describe, expect, test } from 'bun:test';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type Arrival, type AuthorizeWorld, goThrough, visits } from '../support/authorize-page.ts';
import { press } from '../support/pay.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: AuthorizeWorld;
  const { come, address } = visits((opened) => {
    world = opened;
  });
  const didOf = ({ answer }: Arrival) => answer?.['did'];

  describe('an app with one link', () => {
    test('a new person: address, code, passkey, and the app knows who it is', async () => {
      const [email, visitor] = [address(), await come(world.app.origin)];
      await press(visitor.page, 'sign-up');
      expect(await visitor.screen('start')).toContain(`Continue to ${new URL(world.app.origin).host}`);
      const { query, status, answer } = await goThrough(visitor, email);
      expect([status, query['iss']]).toEqual([200, world.origin]);
      expect(answer?.['did']).toMatch(/^did:pkh:eip155:84532:0x[0-9a-fA-F]{40}$/);
      expect(String(answer?.['did']).toLowerCase()).toEndWith(String(answer?.['account']).toLowerCase());
      expect(answer).toMatchObject({ status: 'confirmed', email, email_verified: true });
      // The code is used up, and nothing else of value was in the address bar.
      expect(Object.keys(query).sort()).toEqual(['code', 'iss', 'state']);
    });

    test('a returning person: one press of a passkey, on a device that knows nothing too', async () => {
      const [email, first] = [address(), await come()];
      const did = didOf(await goThrough(first, email));
      const again = await come(undefined, { passkeys: first.passkeys, context: first.context });
      expect(await again.screen('start')).toContain('Welcome back');
      await press(again.page, 'sign-in');
      expect(didOf(await again.arrive())).toBe(did);
      const elsewhere = await come(undefined, { passkeys: first.passkeys });
      expect(await elsewhere.screen('start')).toContain('Continue to');
      await press(elsewhere.page, 'sign-in');
      const { answer } = await elsewhere.arrive();
      expect(answer).toMatchObject({ did, email });
    });

    test('the account that was made here pays and is managed on this device, too', async () => {
      const visitor = await come();
      const { answer } = await goThrough(visitor, address());
      const page = await visitor.context.newPage();
      await page.goto(world.app.link());
      const accounts = await page.evaluate(
        () =>
          new Promise<string[]>((resolve) => {
            const request = indexedDB.open('vault-pay', 3);
            request.onsuccess = () => {
              const all = request.result.transaction('accounts').objectStore('accounts').getAll();
              all.onsuccess = () => resolve(all.result.map((one: { address: string }) => one.address));
            };
          }),
      );
      expect(accounts).toEqual([String(answer?.['account']).toLowerCase()]);
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
});
