import { describe, expect, test } from 'bun:test';
import { fromHex } from '../../lib/base/bytes.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { storedAccounts } from '../support/account-page.ts';
import { type Arrival, type AuthorizeWorld, goThrough, type Visitor, visits } from '../support/authorize-page.ts';
import { awaitSelector, createPasskeys, press } from '../support/pay.ts';
import { addKey, createSecond } from '../support/second-account.ts';

// Links that attack, devices of others, and passkeys that came later.

describe.skipIf(!chromium)('in Chromium', () => {
  let world: AuthorizeWorld;
  const { come, address, member } = visits((opened) => {
    world = opened;
  });
  const didOf = ({ answer }: Arrival) => answer?.['did'];
  const hostOf = ({ origin }: { origin: string }) => new URL(origin).host;
  const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

  describe('a sign-up that another link finds in the tab', () => {
    const atPasskey = async () => {
      const [email, visitor] = [address(), await come(world.app.link({ code_challenge: CHALLENGE }))];
      await visitor.enter(email);
      await visitor.typeCode(email);
      await visitor.screen('passkey');
      return { email, ...visitor };
    };

    test('another app with the same challenge starts over: it names itself, and asks for a code', async () => {
      const { page, email, ...visitor } = await atPasskey();
      await page.goto(world.other.link({ code_challenge: CHALLENGE }));
      expect(await visitor.screen('start')).toContain(`Continue to ${hostOf(world.other)}`);
      await visitor.enter(email);
      expect(await visitor.screen('code')).toContain(email);
      expect(world.t.mailsTo(email)).toHaveLength(2);
    });

    test('while the registration is under way, no code arrives at the other app', async () => {
      const { page, email, ...visitor } = await atPasskey();
      await page.setRequestInterception(true);
      const sent = new Promise<void>((resolve) => {
        page.on('request', (request) => {
          if (request.method() === 'POST' && request.url().endsWith('/api/dids')) resolve();
          else void request.continue();
        });
      });
      await press(page, 'passkey-go');
      await sent;
      page.removeAllListeners('request');
      await page.setRequestInterception(false);
      await page.goto(world.other.link({ code_challenge: CHALLENGE }));
      expect(await visitor.screen('start')).toContain(`Continue to ${hostOf(world.other)}`);
      await visitor.enter(email);
      // The registration got through, or not.
      await awaitSelector(page, '#owned:not([hidden]), #code:not([hidden])');
      if (await page.$('#owned:not([hidden])')) await press(page, 'owned-go');
      expect(await visitor.screen('code')).toContain(email);
      expect(world.other.arrivals).toEqual([]);
    });

    test('another link of the same app and the same address: the code is asked for again', async () => {
      const { email, ...visitor } = await atPasskey();
      await visitor.page.goto(world.app.link());
      await visitor.enter(email);
      expect(await visitor.screen('code')).toContain(email);
      await visitor.typeCode(email);
      await press(visitor.page, 'passkey-go');
      expect(didOf(await visitor.arrive())).toStartWith('did:pkh:');
    });
  });

  describe('a passkey that the account got later', () => {
    test('signs in to the same DID', async () => {
      const { email, arrival } = await member();
      const did = String(didOf(arrival));
      await world.t.work();
      const [row] = await world.t.rows('SELECT proof_key FROM registrations WHERE did = :did', { did });
      const key = fromHex(String(row?.['proof_key']).slice(2)) as Uint8Array;
      const [x, y] = [key.slice(0, 32), key.slice(32)];
      const account = await createSecond(world.chain.rpc, world.contracts, { x, y });
      expect(did).toEndWith(account);
      // As /account makes it on the other device: it names the account.
      const phone = await come(world.app.link(), { passkeys: createPasskeys() });
      await phone.screen('start');
      const spki = await phone.page.evaluate(
        async (named) => {
          const id = crypto.getRandomValues(new Uint8Array(32));
          id.set(named);
          const made = (await navigator.credentials.create({
            publicKey: {
              rp: { id: 'localhost', name: 'Vault' },
              user: { id, name: 'phone', displayName: 'phone' },
              challenge: new Uint8Array(32),
              pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
              authenticatorSelection: {
                residentKey: 'required',
                requireResidentKey: true,
                userVerification: 'required',
              },
            },
          })) as PublicKeyCredential;
          const key = (made.response as AuthenticatorAttestationResponse).getPublicKey();
          return [...new Uint8Array(key as ArrayBuffer)];
        },
        [...(fromHex(account.slice(2)) as Uint8Array)],
      );
      const point = new Uint8Array(spki).slice(-64);
      await addKey(world.chain.rpc, account, { x: point.slice(0, 32), y: point.slice(32) });
      await press(phone.page, 'sign-in');
      expect(await phone.arrive()).toMatchObject({ answer: { did, email } });
    });
  });

  describe('what is said before a press', () => {
    test('names all that the app gets', async () => {
      const visitor = await come();
      const said = await visitor.screen('start');
      const host = hostOf(world.app);
      expect(said).toContain(`${host} gets your email address.`);
      expect(said).toContain(`${host} gets your public account on the network, and with it what it pays and holds.`);
      const { answer } = (await member()).arrival;
      const given = ['did', 'account', 'status', 'final', 'proofs', 'email', 'email_verified', 'email_verified_at'];
      const ofToken = ['iss', 'sub', 'aud', 'iat', 'exp', 'auth_time', 'acr', 'amr', 'at_hash'];
      expect(Object.keys(answer ?? {}).sort()).toEqual([...given, ...ofToken].sort());
      await visitor.page.goto(world.app.link({ scope: 'openid' }));
      expect(await visitor.screen('start')).toContain(`${host} gets no address of yours, only an identifier`);
    });

    test('the passkey screen names the address and the app, after a reload too, and offers another address', async () => {
      const [email, visitor] = [address(), await come()];
      await visitor.enter(email);
      await visitor.typeCode(email);
      for (let i = 0; i < 2; i++) {
        const said = await visitor.screen('passkey');
        expect(said).toContain(`For ${email}, to continue to ${hostOf(world.app)}.`);
        expect(said).toContain(`gets your email address ${email.slice(0, 2)}…@example.com.`);
        await visitor.page.reload();
      }
      await visitor.screen('passkey');
      await press(visitor.page, 'passkey-other');
      expect(await visitor.screen('start')).not.toContain(email);
    });

    test('a network without a free registration says so on the first screen: no code is sent, no passkey is made', async () => {
      const visitor = await come('about:blank');
      await visitor.page.setRequestInterception(true);
      visitor.page.on('request', async (request) => {
        if (!request.url().includes('/authorize/config')) return request.continue();
        const config = (await (await fetch(request.url())).json()) as object;
        const full = { error: 'ip_limit_reached', retry_after: 2_500_000 };
        return request.respond({ contentType: 'application/json', body: JSON.stringify({ ...config, full }) });
      });
      await visitor.page.goto(world.app.link());
      const said = await visitor.screen('start');
      expect(said).toContain('Too many new accounts from here');
      expect(said).toContain('Try again in about 29 days.');
      expect(await visitor.page.$eval('#address-form', (form) => form.checkVisibility())).toBe(false);
      expect(await visitor.page.$eval('#sign-in', (button) => button.checkVisibility())).toBe(true);
    });
  });

  describe('browsers and devices', () => {
    test('a browser without WebAuthn says so on the first screen, before an address is asked', async () => {
      const visitor = await come('about:blank');
      await visitor.page.evaluateOnNewDocument(() => {
        Object.defineProperty(Navigator.prototype, 'credentials', { get: () => undefined });
      });
      await visitor.page.goto(world.app.link());
      const said = await visitor.screen('problem');
      expect(said).toContain('This browser cannot use passkeys here');
      expect(said).toContain(`Open ${hostOf(world.app)} in another browser`);
      await press(visitor.page, 'problem-go');
      expect((await visitor.arrive()).query).toMatchObject({ error: 'access_denied' });
    });

    const kept = async ({ context }: Visitor) => {
      const page = await context.newPage();
      await page.goto(world.app.link());
      const found = [(await storedAccounts(page)).length, await page.evaluate(() => localStorage.length)];
      await page.close();
      return found;
    };

    test('a device can be forgotten', async () => {
      const first = await member();
      expect(await kept(first)).toEqual([1, 1]);
      const next = await come(undefined, { context: first.context });
      expect(await next.screen('start')).toContain('Welcome back');
      await press(next.page, 'forget');
      await next.page.waitForFunction(() => document.getElementById('start-title')?.textContent?.includes('Continue'));
      expect(await kept(first)).toEqual([0, 0]);
    });

    test('on a device that is not the person’s nothing is kept', async () => {
      const visitor = await come();
      await visitor.screen('start');
      await press(visitor.page, 'shared');
      await goThrough(visitor, address());
      expect(await kept(visitor)).toEqual([0, 0]);
    });

    test('a press in the first half second of a window that was opened counts for nothing', async () => {
      const visitor = await come('about:blank');
      await visitor.page.evaluateOnNewDocument(() => {
        Object.defineProperty(window, 'opener', { value: window });
      });
      await visitor.page.goto(world.app.link());
      await visitor.screen('start');
      const isTaken = () => {
        window.dispatchEvent(new Event('focus'));
        return !document
          .getElementById('sign-in')
          ?.dispatchEvent(new MouseEvent('click', { cancelable: true, detail: 2 }));
      };
      expect(await visitor.page.evaluate(isTaken)).toBe(true);
    });
  });
});
