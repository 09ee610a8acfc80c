// Other ways to and through /authorize than that of sign-up.test.ts.
import { beforeAll, describe, expect, test } from 'bun:test';
import { createHeldPasskey } from '../../scripts/dev-stack/browser-passkeys.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import {
  type Arrival,
  type AuthorizeWorld,
  attachToPopup,
  register,
  type Visitor,
  visit,
  visitorAt,
  visits,
} from '../support/authorize-page.ts';
import { otherCode } from '../support/digits.ts';
import { waitLimitMs } from '../support/limits.ts';
import { awaitSelector, press } from '../support/pay.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: AuthorizeWorld;
  const { come, address, member } = visits((opened) => {
    world = opened;
  });
  const didOf = ({ answer }: Arrival) => answer?.['did'];
  let passerBy: Visitor | undefined;
  /** Somebody who opens a link in a browser of many, and leaves nothing there but the tab. */
  const passBy = async (link = world.app.link()) => {
    passerBy ??= await visit(world, 'about:blank');
    await passerBy.page.goto(link);
    return passerBy;
  };
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
      const [email, visitor] = [address(), await passBy(world.app.link({ ui_locales: 'xx de' }))];
      expect(await visitor.screen('start')).toContain('Weiter zu');
      expect(await visitor.page.evaluate(() => document.documentElement.lang)).toBe('de');
      await visitor.enter('nonsense');
      expect(await visitor.screen('address-fault')).toContain('Geben Sie eine E-Mail-Adresse');
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
      await visitor.page.goto(world.app.link({ ui_locales: 'xx de' }));
      expect(await visitor.screen('problem')).toContain('The network cannot be reached');
      isAway = false;
      await press(visitor.page, 'problem-go');
      expect(await visitor.screen('start')).toContain('Weiter zu');
    });
  });

  describe('a popup of the app', () => {
    /** A page that opens the sign-in, and hears from its own page of the redirect URI, as libraries have it. */
    const popupPage = (link: string) => `<!doctype html><title>Tea</title><button id="open">Sign in</button>
      <pre id="heard"></pre><script>
      document.getElementById('open').onclick = () => open(${JSON.stringify(link)}, 'vault', 'popup,width=480,height=700');
      addEventListener('message', ({ data, origin }) => {
        document.getElementById('heard').textContent += JSON.stringify({ data, origin });
      });</script>`;
    const openPopup = async (visitor: Visitor) => {
      const opened = visitor.context.waitForTarget((one) => one.url().includes('/authorize?'), {
        timeout: waitLimitMs(),
      });
      await press(visitor.page, 'open');
      const page = await (await opened).asPage();
      await attachToPopup(page, visitor.passkeys);
      return visitorAt(page, world.t);
    };
    const backInPopup = `<!doctype html><title>Tea</title><script>
      opener.postMessage(location.search, location.origin); close();</script>`;

    test('is redirected as a page is, and has its opener there: the app hears from its own page', async () => {
      const link = world.app.link({ redirect_uri: `${world.app.origin}/page` });
      world.app.pages.set('/popup', popupPage(link));
      world.app.pages.set('/page', backInPopup);
      const [email, visitor] = [address(), await come(`${world.app.origin}/popup`)];
      const popup = await openPopup(visitor);
      await popup.enter(email);
      await popup.typeCode(email);
      await press(popup.page, 'passkey-go');
      await visitor.page.waitForFunction(() => document.getElementById('heard')?.textContent?.includes('code='));
      const heard = await visitor.page.$eval('#heard', (element) => element.textContent ?? '');
      expect(JSON.parse(heard)).toMatchObject({ origin: world.app.origin });
      await until('the popup is closed', async () => (await visitor.context.pages()).length === 1);
    });

    test('a page of another origin that opens it hears nothing: the popup goes to the app', async () => {
      const { passkeys } = await member();
      world.pages.set('/popup', popupPage(world.app.link()));
      const visitor = await come(`${world.shop}/popup`, { passkeys });
      const popup = await openPopup(visitor);
      await press(popup.page, 'sign-in');
      await awaitSelector(popup.page, '#welcome');
      expect(world.app.arrivals.at(-1)).toMatchObject({ status: 200 });
      expect(await visitor.page.$eval('#heard', (element) => element.textContent)).toBe('');
    });
  });

  describe('what goes wrong, and what to do', () => {
    test('an address that is none, and a code that is wrong, are said beside the field', async () => {
      const [email, visitor] = [address(), await passBy()];
      await visitor.enter('nonsense');
      expect(await visitor.screen('address-fault')).toContain('Enter an email address');
      await visitor.page.click('#address', { count: 3 });
      await visitor.enter('nobody@localhost');
      expect(await visitor.screen('address-fault')).toContain('Enter an email address');
      await visitor.enter(email);
      await visitor.screen('code');
      await visitor.page.type('#digits', otherCode(world.t.codeFor(email)));
      expect(await visitor.screen('digits-fault')).toContain('This code is not right.');
      await visitor.typeCode(email);
      await visitor.screen('passkey');
    });

    test('another link in the same tab starts over', async () => {
      const [email, visitor] = [address(), await passBy()];
      await visitor.enter(email);
      await visitor.screen('code');
      await visitor.page.goto(world.app.link());
      expect(await visitor.screen('start')).toContain('Continue to');
    });

    test('what comes between is said, and the page goes on from there: one code, one passkey, and the app', async () => {
      const [email, visitor] = [address(), await come()];
      await visitor.enter(email);
      await visitor.screen('code');
      await visitor.page.reload();
      expect(await visitor.screen('code')).toContain(email);
      await visitor.typeCode(email);
      await visitor.screen('passkey');
      await visitor.passkeys.allow(false);
      await press(visitor.page, 'passkey-go');
      expect(await visitor.screen('passkey-notice')).toContain('No passkey was used.');
      await visitor.passkeys.allow(true);
      await visitor.page.setOfflineMode(true);
      await press(visitor.page, 'passkey-go');
      expect(await visitor.screen('problem')).toContain('The service cannot be reached');
      await visitor.page.setOfflineMode(false);
      await press(visitor.page, 'problem-go');
      await visitor.screen('passkey');
      // While the network confirms the account the page waits, says so, and goes on by itself.
      const isSaid = Promise.withResolvers<void>();
      let isFirst = true;
      await visitor.page.setRequestInterception(true);
      visitor.page.on('request', (request) => {
        const isForCode = request.url().endsWith('/authorize/code') && request.postData()?.includes('credentialId');
        if (!isForCode) return void request.continue();
        if (!isFirst) return void isSaid.promise.then(() => request.continue());
        isFirst = false;
        // The answer until then; a relay waits too long for a test. tests/routes/authorize-code has it.
        const headers = { 'retry-after': '1' };
        const body = JSON.stringify({ error: 'registration_pending' });
        void request.respond({ status: 409, contentType: 'application/json', headers, body });
      });
      await press(visitor.page, 'passkey-go');
      await visitor.page.waitForFunction(() => {
        const words = document.getElementById('progress-words');
        return words?.checkVisibility() && words.textContent?.includes('The network is confirming your account.');
      });
      isSaid.resolve();
      const { status, answer } = await visitor.arrive();
      expect([status, answer?.['email'], answer?.['did']]).toEqual([200, email, expect.stringMatching(/^did:pkh:/)]);
      expect([world.t.mailsTo(email).length, visitor.passkeys.ids().length]).toEqual([1, 1]);
    });

    test('a passkey with which nothing was registered: start again with the address', async () => {
      const visitor = await come(undefined, { passkeys: createHeldPasskey() });
      await press(visitor.page, 'sign-in');
      expect(await visitor.screen('problem')).toContain('This passkey is not registered here');
      await press(visitor.page, 'problem-go');
      await visitor.screen('start');
    });

    test.each(['the same device', 'another device'])(
      'who has signed up is asked for the passkey once at /account, on %s',
      async (device) => {
        const here = await member();
        const did = String(didOf(here.arrival));
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
      const { email, arrival, ...first } = await member();
      const again = await come(undefined, { passkeys: first.passkeys });
      const codes = () => world.t.rows('SELECT count(*) AS sent FROM codes');
      const before = await codes();
      await again.enter(email);
      expect(await again.screen('owned')).toContain('This address belongs to another account');
      // It is said before a code is sent, and to nobody whose account it is.
      expect(await codes()).toEqual(before);
      await press(again.page, 'owned-sign-in');
      expect(didOf(await again.arrive())).toBe(didOf(arrival));
    });

    describe('an address that moves slowly: the newcomer', () => {
      let [email, holder] = ['', ''];
      let other: Visitor;
      beforeAll(async () => {
        const first = await register(world, address());
        [email, holder] = [first.email, first.did];
        await settled(holder);
        other = await visit(world);
      });
      const expectWait = async () => {
        const waits = await other.screen('give');
        expect(waits).toContain(`${email} still belongs to another account. It moves to yours at the earliest on `);
        expect(waits).toMatch(/\d{4}.*, unless its owner objects\./);
      };
      /** Who comes back while it waits is asked again. */
      const comeBack = async () => {
        await other.page.goto(world.app.link());
        await press(other.page, 'sign-in');
        await expectWait();
      };

      test('cancels', async () => {
        await other.enter(email);
        const said = await other.screen('owned');
        expect(said).toContain(`You can also register ${email} again: it moves 3 days after you have proven it`);
        expect(said.toLowerCase()).not.toContain(holder.slice(-8).toLowerCase());
        await press(other.page, 'owned-go');
        await other.typeCode(email);
        expect(await other.screen('passkey')).toContain('Create your passkey');
        await press(other.page, 'passkey-go');
        await expectWait();
        await press(other.page, 'cancel');
        expect((await other.arrive()).query).toMatchObject({ error: 'access_denied' });
      });

      test('goes on without it', async () => {
        const dids: unknown[] = [];
        for (const _ of [1, 2]) {
          await comeBack();
          await press(other.page, 'give-go');
          const { status, answer } = await other.arrive();
          expect([status, answer?.['email']]).toEqual([200, undefined]);
          dids.push(answer?.['did']);
        }
        expect(dids[0]).toStartWith('did:pkh:');
        expect(dids[0]).not.toBe(holder);
        expect(dids[1]).toBe(dids[0]);
      });
    });

    test('an address that the app asks for and the account lacks is added here, or left out; of several one is picked', async () => {
      const number = '+14155550132';
      const { email, arrival, passkeys } = await member();
      const did = didOf(arrival);
      const visitor = await come('about:blank', { passkeys });
      const comeBack = async () => {
        await visitor.page.goto(world.app.link({ scope: 'openid email phone did' }));
        await press(visitor.page, 'sign-in');
        return visitor;
      };
      const without = await comeBack();
      expect(await without.screen('give')).toContain('asks for a phone number, and your account has none.');
      await press(without.page, 'give-go');
      expect((await without.arrive()).answer).toMatchObject({ did, email });
      const adding = await comeBack();
      await press(adding.page, 'give-add-sms');
      await adding.screen('add');
      await adding.page.type('#add-address', number);
      await adding.page.keyboard.press('Enter');
      await adding.typeCode(number);
      expect(await adding.screen('passkey')).toContain('to add the address to your account');
      await press(adding.page, 'passkey-go');
      const { answer } = await adding.arrive();
      expect(answer).toMatchObject({ did, email, phone_number: number, phone_number_verified: true });
      expect(passkeys.ids()).toHaveLength(1);
    });

    test('of several addresses the oldest is picked, until the person picks another one, or none', async () => {
      const { email, passkeys } = await member();
      const visitor = await come('about:blank', { passkeys });
      await visitor.page.setRequestInterception(true);
      visitor.page.on('request', (request) => {
        const body = JSON.parse(request.postData() ?? '{}');
        if (!request.url().endsWith('/authorize/code') || !body.credentialId || body.identifiers) {
          return void request.continue();
        }
        // A second address takes two registrations; tests/routes/authorize-code has them.
        const addresses = [email, 'second@example.com'].map((identifier) => ({ identifier, moves_at: null }));
        const own = { did: 'did:pkh:x', smartAccount: '0x', pubKeyX: '0x', pubKeyY: '0x', channels: ['email'] };
        const choice = { ...own, addresses: addresses.map((one) => ({ ...one, channel: 'email' })) };
        void request.respond({ contentType: 'application/json', body: JSON.stringify(choice) });
      });
      await visitor.page.goto(world.app.link());
      await press(visitor.page, 'sign-in');
      expect(await visitor.screen('give')).toMatch(new RegExp(`${email}\\s+second@example.com\\s+No email address`));
      expect(await visitor.page.$eval('#give :checked', (one) => (one as HTMLInputElement).value)).toBe(email);
      await visitor.page.click('#give input[value=""]');
      await press(visitor.page, 'give-go');
      const { status, answer } = await visitor.arrive();
      expect([status, answer?.['email']]).toEqual([200, undefined]);
    });

    test('Cancel leads back to the app, with access_denied and the state', async () => {
      const visitor = await passBy(world.app.link({ state: 'my state+1' }));
      await visitor.screen('start');
      await press(visitor.page, 'cancel');
      const { query } = await visitor.arrive();
      expect(query).toEqual({
        error: 'access_denied',
        error_description: 'the person cancelled',
        state: 'my state+1',
        iss: world.origin,
      });
    });

    test('a link without a challenge goes back to the app at once, with what is wrong', async () => {
      const visitor = await passBy(world.app.link({ code_challenge_method: 'plain' }));
      expect((await visitor.arrive()).query).toMatchObject({ error: 'invalid_request', iss: world.origin });
    });

    test.each([
      ['an unknown app', { client_id: 'other' }],
      ['a URI that is a script', { redirect_uri: 'javascript:alert(document.domain)//' }],
      ['no app', { client_id: undefined }],
      ['an endless app', { client_id: 'tea'.repeat(22) }],
      ['a URI with a control character', { redirect_uri: 'http://localhost/back\u0007' }],
    ])('%s: the page says so, and leads nowhere', async (_, change) => {
      const visitor = await passBy(world.app.link(change));
      expect(await visitor.screen('problem')).toContain('This link does not work');
      const ways = await visitor.page.$$eval('button, a', (all) => all.filter((one) => one.checkVisibility()).length);
      expect([ways, new URL(visitor.page.url()).origin]).toEqual([0, world.origin]);
    });

    test('too many codes: it says when to try again', async () => {
      const email = address();
      for (let i = 0; i < 5; i++) await world.t.call('POST /api/verify/send', { identifier: email, channel: 'email' });
      const visitor = await passBy();
      await visitor.enter(email);
      expect(await visitor.screen('problem')).toMatch(/Too many tries[\s\S]*Try again in (?:60|5\d) minutes\./);
    });
  });
  test('a vault that registers by invitation: the link brings the invite, over a reload too', async () => {
    const invited = await world.beside({ REGISTRATION: 'invite' });
    const operator = { authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
    const { token } = (await invited.t.call('POST /v1/console/invites', {}, operator)).body;
    const guest = await visit(invited, invited.app.link());
    await guest.enter('stranger@example.com');
    expect(await guest.screen('problem')).toContain('You need an invite');
    await guest.page.goto(invited.app.link({ invite: token }));
    await guest.enter('invited@example.com');
    await guest.screen('code');
    await guest.page.reload();
    await guest.typeCode('invited@example.com');
    await press(guest.page, 'passkey-go');
    const { status, answer } = await guest.arrive();
    expect([status, answer?.['email']]).toEqual([200, 'invited@example.com']);
    const { invites } = (await invited.t.call('GET /v1/console/invites', {}, operator)).body;
    expect(invites).toMatchObject([{ status: 'used', used: 1 }]);
    await guest.close();
    await invited.stop();
  });
});
