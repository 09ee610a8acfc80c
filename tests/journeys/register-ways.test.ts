// Other ways to and through /register than that of register.test.ts.
import { describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/browser.ts';
import { waitLimitMs } from '../support/limits.ts';
import { awaitSelector, press } from '../support/pay.ts';
import {
  type Arrival,
  documented,
  goThrough,
  type RegisterWorld,
  startRegisterWorld,
  type Visitor,
  visit,
  visitorAt,
  visits,
} from '../support/register-page.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

if (chromium) {
  let world: RegisterWorld;
  const { come, address } = visits((opened) => {
    world = opened;
  });
  const didOf = ({ answer }: Arrival) => answer?.['did'];
  /** Waits until no re-org takes the registration of a DID back. */
  const settled = async (did: string) => {
    await world.chain.rpc('anvil_mine', ['0x80']);
    await until('the registration is final', async () => {
      const rows = await world.t.rows('SELECT 1 FROM registrations WHERE did = :did AND final = 1', { did });
      return rows.length > 0;
    });
  };

  describe('the language of the person', () => {
    test('is that of the link: page, faults and the message with the code', async () => {
      const [email, visitor] = [address(), await come(world.app.link({ lang: 'de' }))];
      expect(await visitor.screen('start')).toContain('Weiter zu');
      expect(await visitor.page.evaluate(() => document.documentElement.lang)).toBe('de');
      await visitor.enter('nonsense');
      expect(await visitor.screen('address-fault')).toContain('Geben Sie eine E-Mail-Adresse oder eine Telefonnummer');
      await visitor.enter(email);
      expect(await visitor.screen('code')).toContain(`Wir haben sechs Ziffern an ${email} gesendet.`);
      expect(await visitor.page.$eval('#cancel', (button) => button.textContent)).toContain('Abbrechen');
      await visitor.typeCode(email);
      expect(await visitor.screen('passkey')).toContain('Passkey erstellen');
    });

    test('says that the network cannot be reached where the words do not come, and tries again', async () => {
      const visitor = await come('about:blank');
      let isAway = true;
      await visitor.page.setRequestInterception(true);
      visitor.page.on('request', (request) =>
        isAway && request.url().includes('/words/') ? request.abort() : request.continue(),
      );
      await visitor.page.goto(world.app.link({ lang: 'de' }));
      expect(await visitor.screen('problem')).toContain('The network cannot be reached');
      isAway = false;
      await press(visitor.page, 'problem-go');
      expect(await visitor.screen('start')).toContain('Weiter zu');
    });
  });

  describe('the documented app', () => {
    test('the page of docs/register.md, as it stands', async () => {
      const page = documented('html', 'sessionStorage', world.origin);
      world.app.pages.set('/page', page.replace("location.origin + '/back'", "location.origin + '/page'"));
      const [email, visitor] = [address(), await come(`${world.app.origin}/page`)];
      await press(visitor.page, 'sign-up');
      await visitor.enter(email);
      await visitor.typeCode(email);
      await press(visitor.page, 'passkey-go');
      await visitor.page.waitForFunction(() => document.getElementById('who')?.textContent?.includes('verified_at'));
      const said = JSON.parse(await visitor.page.$eval('#who', (element) => element.textContent ?? ''));
      expect(said).toMatchObject({ identifiers: [{ identifier: email }] });
      // A reload shows no code in the address bar, and exchanges nothing again.
      expect(visitor.page.url()).toBe(`${world.app.origin}/page`);
    });

    test.each([
      ['an error', `error=your+account+is+locked`],
      ['a code', `code=${'c'.repeat(43)}`],
    ])('%s in answer to a link that was never made is refused: no state, no request', async (_, query) => {
      const page = documented('html', 'sessionStorage', world.origin);
      world.app.pages.set('/page', page);
      const visitor = await come('about:blank');
      const asked: string[] = [];
      visitor.page.on('request', (request) => asked.push(request.url()));
      await visitor.page.goto(`${world.app.origin}/page?${query}&iss=${encodeURIComponent(world.origin)}`);
      await visitor.page.waitForFunction(() => document.getElementById('who')?.textContent !== '');
      expect(await visitor.page.$eval('#who', (who) => who.textContent)).toBe('This is the answer to no link of ours.');
      expect(asked.filter((url) => url.startsWith(world.origin))).toEqual([]);
    });

    /** A page that opens the popup by the documented lines. */
    const popupPage = (link: string) => `<!doctype html><title>Tea</title><button id="open">Sign up</button>
      <pre id="heard"></pre><script>
      const vault = ${JSON.stringify(world.origin)};
      const link = ${JSON.stringify(Object.fromEntries(new URL(link).searchParams))};
      const { state } = link;
      const heard = (data) => { document.getElementById('heard').textContent += JSON.stringify(data); };
      const exchange = (code) => heard({ code });
      document.getElementById('open').onclick = () => {
        ${documented('js', "mode: 'popup'", world.origin)}
        addEventListener('message', ({ data }) => heard({ raw: data }));
      };</script>`;
    /** A popup takes no press in its first half second in front. */
    const untilTaken = (page: Page) =>
      page.waitForFunction(() =>
        document.body.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 })),
      );
    const openPopup = async (visitor: Visitor) => {
      const opened = visitor.context.waitForTarget((one) => one.url().includes('/register?'), {
        timeout: waitLimitMs(),
      });
      await press(visitor.page, 'open');
      const page = await (await opened).asPage();
      // An authenticator that is attached before the page is there goes with the blank page before it.
      await awaitSelector(page, '#start');
      await visitor.passkeys.attach(page);
      await untilTaken(page);
      return visitorAt(page, world.t);
    };

    /** Waits until the popup has closed itself. */
    const isAlone = ({ context }: Visitor) =>
      until('the popup is closed', async () => (await context.pages()).length === 1).catch(async (cause) => {
        const [, popup] = await context.pages();
        // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
        throw new Error(`it stays: ${await popup?.evaluate(() => document.body.innerText)}`, { cause });
      });

    test('the popup of docs/register.md: the code comes by a message, and the window closes', async () => {
      world.app.pages.set('/popup', popupPage(world.app.link()));
      const [email, visitor] = [address(), await come(`${world.app.origin}/popup`)];
      const popup = await openPopup(visitor);
      await popup.enter(email);
      await popup.typeCode(email);
      await press(popup.page, 'passkey-go');
      await visitor.page.waitForFunction(() => document.getElementById('heard')?.textContent?.includes('"code"'));
      await isAlone(visitor);
    });

    test('a page of another origin that opens the popup hears nothing: the popup goes to the app', async () => {
      world.pages.set('/popup', popupPage(world.app.link()));
      const [email, visitor] = [address(), await come(`${world.shop}/popup`)];
      const popup = await openPopup(visitor);
      await popup.enter(email);
      await popup.typeCode(email);
      await press(popup.page, 'passkey-go');
      await awaitSelector(popup.page, '#welcome');
      expect(world.app.arrivals.at(-1)).toMatchObject({ status: 200 });
      expect(await visitor.page.$eval('#heard', (element) => element.textContent)).toBe('');
    });

    test('without a window that opened it, the popup leads back by the redirect', async () => {
      const visitor = await come(world.app.link({ mode: 'popup' }));
      await visitor.screen('start');
      await untilTaken(visitor.page);
      expect(didOf(await goThrough(visitor, address()))).toStartWith('did:pkh:');
    });
  });

  describe('a reload goes on where the page was', () => {
    test('at the code, which is not sent again', async () => {
      const [email, visitor] = [address(), await come()];
      await visitor.enter(email);
      await visitor.screen('code');
      await visitor.page.reload();
      expect(await visitor.screen('code')).toContain(email);
      expect(world.t.mailsTo(email)).toHaveLength(1);
      await visitor.typeCode(email);
      await press(visitor.page, 'passkey-go');
      expect(didOf(await visitor.arrive())).toStartWith('did:pkh:');
    });

    test('another link in the same tab starts over', async () => {
      const [email, visitor] = [address(), await come()];
      await visitor.enter(email);
      await visitor.screen('code');
      await visitor.page.goto(world.app.link());
      expect(await visitor.screen('start')).toContain('Continue to');
    });
  });

  describe('what goes wrong, and what to do', () => {
    test('an address that is none, and a code that is wrong, are said beside the field', async () => {
      const [email, visitor] = [address(), await come()];
      await visitor.enter('nonsense');
      expect(await visitor.screen('address-fault')).toContain('Enter an email address, or a phone number');
      await visitor.page.click('#address', { count: 3 });
      await visitor.enter('nobody@localhost');
      expect(await visitor.screen('address-fault')).toContain('Enter an email address');
      await visitor.enter(email);
      await visitor.screen('code');
      const wrong = world.t.codeFor(email) === '111111' ? '222222' : '111111';
      await visitor.page.type('#digits', wrong);
      expect(await visitor.screen('digits-fault')).toContain('This code is not right.');
      await visitor.typeCode(email);
      await visitor.screen('passkey');
    });

    test('a passkey that is refused is asked for again, and none is made twice', async () => {
      const [email, visitor] = [address(), await come()];
      await visitor.enter(email);
      await visitor.typeCode(email);
      await visitor.screen('passkey');
      await visitor.passkeys.allow(false);
      await press(visitor.page, 'passkey-go');
      expect(await visitor.screen('passkey-notice')).toContain('No passkey was used.');
      await visitor.passkeys.allow(true);
      await press(visitor.page, 'passkey-go');
      expect(didOf(await visitor.arrive())).toStartWith('did:pkh:');
    });

    test('a passkey with which nothing was registered: start again with the address', async () => {
      const stranger = await come(`${world.origin}/account`);
      await press(stranger.page, 'create');
      await awaitSelector(stranger.page, '#home');
      const visitor = await come(undefined, { passkeys: stranger.passkeys });
      await press(visitor.page, 'sign-in');
      expect(await visitor.screen('problem')).toContain('This passkey is not registered here');
      await press(visitor.page, 'problem-go');
      await visitor.screen('start');
    });

    test.each(['the same device', 'another device'])(
      'who has signed up is asked for the passkey once at /account, on %s',
      async (device) => {
        const here = await come();
        const did = String(didOf(await goThrough(here, address())));
        const known = device === 'the same device' ? { context: here.context } : {};
        const { page } = await come(`${world.origin}/account`, { passkeys: here.passkeys, ...known });
        await press(page, 'sign-in');
        // The notice would ask for another press.
        await awaitSelector(page, '#home, #start-notice:not([hidden])');
        expect(await page.$eval('#start-notice', (one) => one.checkVisibility() && one.textContent)).toBe(false);
        expect(did.toLowerCase()).toEndWith(await page.$eval('#full', (one) => (one.textContent ?? '').toLowerCase()));
      },
    );

    test('an address with a passkey: sign in with it', async () => {
      const [email, first] = [address(), await come()];
      const did = didOf(await goThrough(first, email));
      const again = await come(undefined, { passkeys: first.passkeys });
      const codes = () => world.t.rows('SELECT count(*) AS sent FROM codes');
      const before = await codes();
      await again.enter(email);
      expect(await again.screen('owned')).toContain('This address belongs to another account');
      // It is said before a code is sent, and to nobody whose account it is.
      expect(await codes()).toEqual(before);
      await press(again.page, 'owned-sign-in');
      expect(didOf(await again.arrive())).toBe(did);
    });

    test.each([
      ['goes on without it', 'done-go'],
      ['cancels', 'cancel'],
    ])('an address that moves slowly: the newcomer %s', async (_, button) => {
      const [email, first] = [address(), await come()];
      const holder = String(didOf(await goThrough(first, email)));
      await settled(holder);
      const other = await come();
      await other.enter(email);
      const said = await other.screen('owned');
      expect(said).toContain(`You can also register ${email} anew: it moves 3 days after you have proven it`);
      expect(said.toLowerCase()).not.toContain(holder.slice(-8).toLowerCase());
      await press(other.page, 'owned-go');
      await other.typeCode(email);
      expect(await other.screen('passkey')).toContain('Create your passkey');
      await press(other.page, 'passkey-go');
      expect(await other.screen('done')).toMatch(
        /It moves to yours at the earliest on .*\d{4}.*\. Until then .* gets your account without it\./,
      );
      await press(other.page, button);
      const { query, status, answer } = await other.arrive();
      if (button === 'cancel') return expect(query).toMatchObject({ error: 'access_denied' });
      expect([status, answer?.['identifiers']]).toEqual([200, []]);
      expect(answer?.['did']).not.toBe(holder);
      // Who comes back while it waits is asked again.
      const again = await come(undefined, { passkeys: other.passkeys });
      await press(again.page, 'sign-in');
      expect(await again.screen('done')).toContain('Go on without this address?');
      await press(again.page, 'done-go');
      expect((await again.arrive()).answer).toMatchObject({ did: answer?.['did'], identifiers: [] });
    });

    test('Cancel leads back to the app, with access_denied and the state', async () => {
      const visitor = await come(world.app.link({ state: 'my state+1' }));
      await visitor.screen('start');
      await press(visitor.page, 'cancel');
      const { query } = await visitor.arrive();
      expect(query).toEqual({ error: 'access_denied', state: 'my state+1', iss: world.origin });
    });

    test('a link without a challenge says so, and leads back only when a button is pressed', async () => {
      const visitor = await come(world.app.link({ code_challenge_method: 'plain' }));
      expect(await visitor.screen('problem')).toContain('The app’s link cannot be used');
      await press(visitor.page, 'problem-go');
      expect((await visitor.arrive()).query).toMatchObject({ error: 'invalid_request' });
    });

    test.each([
      ['an unknown app', { client_id: 'other' }],
      ['an unknown URI', { redirect_uri: 'https://evil.example/back' }],
      ['a URI that is a script', { redirect_uri: 'javascript:alert(document.domain)//' }],
      ['a URI with another path', { redirect_uri: 'tea' }],
      ['no app', { client_id: undefined }],
      ['a misspelt app', { client_id: 'Tea' }],
      ['an endless app', { client_id: 'tea'.repeat(22) }],
      ['a URI with a control character', { redirect_uri: 'http://localhost/back\u0007' }],
    ])('%s: the page says so, and leads nowhere', async (_, change) => {
      const visitor = await come(world.app.link(change));
      expect(await visitor.screen('problem')).toContain('This link does not work');
      const ways = await visitor.page.$$eval('button, a', (all) => all.filter((one) => one.checkVisibility()).length);
      expect([ways, new URL(visitor.page.url()).origin]).toEqual([0, world.origin]);
    });

    test('too many codes: it says when to try again', async () => {
      const email = address();
      for (let i = 0; i < 5; i++) await world.t.call('POST /api/verify/send', { identifier: email, channel: 'email' });
      const visitor = await come();
      await visitor.enter(email);
      expect(await visitor.screen('problem')).toMatch(/Too many tries[\s\S]*Try again in (?:60|5\d) minutes\./);
    });
  });
  test('a vault that registers by invitation: the link brings the invite, over a reload too', async () => {
    const invited = await startRegisterWorld({ REGISTRATION: 'invite' });
    const operator = { authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
    const { token } = (await invited.t.call('POST /v1/console/invites', {}, operator)).body;
    const stranger = await visit(invited, invited.app.link());
    await stranger.enter('stranger@example.com');
    expect(await stranger.screen('problem')).toContain('You need an invite');
    const guest = await visit(invited, invited.app.link({ invite: token }));
    await guest.enter('invited@example.com');
    await guest.screen('code');
    await guest.page.reload();
    await guest.typeCode('invited@example.com');
    await press(guest.page, 'passkey-go');
    const { status, answer } = await guest.arrive();
    expect([status, answer?.['identifiers']]).toMatchObject([200, [{ identifier: 'invited@example.com' }]]);
    const { invites } = (await invited.t.call('GET /v1/console/invites', {}, operator)).body;
    expect(invites).toMatchObject([{ status: 'used', used: 1 }]);
    for (const visitor of [stranger, guest]) await visitor.close();
    await invited.stop();
  });
}
