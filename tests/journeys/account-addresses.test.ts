// Addresses of an account, at /account: what is stated of one, and one that somebody else has proven.
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { proveAddress, type } from '../support/account-page.ts';
import { type AuthorizeWorld, awaitRow, register, visit, visits } from '../support/authorize-page.ts';
import { temporaryFolder } from '../support/databases.ts';
import { runToEnd } from '../support/output.ts';
import { press } from '../support/pay.ts';
import { SOURCES } from '../support/run.ts';
import { settled } from '../support/settled.ts';
import { until } from '../support/until.ts';
import { sdJwt } from '../tools/credential-clients.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  let world: AuthorizeWorld;
  const { come, address } = visits((opened) => {
    world = opened;
  });
  /** Somebody whose registration of an address is final. */
  const registered = async () => {
    const one = await register(world, address());
    await awaitRow(world, 'SELECT 1 FROM registrations WHERE did = :did AND final = 1', { did: one.did });
    return one;
  };

  describe('a statement that an address is of the account, for one recipient', () => {
    const makeHolder = async () => {
      const { email, did, passkeys } = await registered();
      const { page, screen } = await visit(world, `${world.origin}/account`, { passkeys });
      await press(page, 'sign-in');
      await screen('home');
      return { email, did, page, screen };
    };
    type Here = Awaited<ReturnType<typeof makeHolder>>;
    let made: Promise<Here> | undefined;
    /** Somebody who holds an address, at the screen of statements: one person, whose page is loaded anew each time. */
    const holder = async () => {
      made ??= makeHolder();
      const here = await made;
      here.page.removeAllListeners('request');
      await here.page.setRequestInterception(false);
      await here.page.goto(`${world.origin}/account`);
      await press(here.page, 'state');
      await here.screen('statement');
      return here;
    };

    const fillIn = async ({ page }: Here, email: string, recipient = 'shop.example/contact') => {
      await type(page, 'state-address', email);
      await type(page, 'state-for', recipient);
      await type(page, 'state-nonce', 'heron 48');
    };
    const makeFile = async (here: Here) => {
      await here.page.click('#state-form button[type=submit]');
      await here.screen('state-made');
      return here.page.$eval('#state-text', ({ textContent }) => textContent ?? '');
    };
    const options = (nonce: string) => ({
      currentDate: Math.floor((Date.now() + world.shift()) / 1000),
      keyBindingNonce: nonce,
    });

    test('an address is shown to one recipient, by a key that nobody keeps, and the account is not', async () => {
      const here = await holder();
      const folder = temporaryFolder();
      const session = await here.page.createCDPSession();
      await session.send('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: folder.path,
        browserContextId: here.page.browserContext().id ?? '',
      });
      await fillIn(here, here.email);
      const text = await makeFile(here);
      expect(await here.screen('statement')).toContain(`${here.email} is yours`);
      await press(here.page, 'state-save');
      const name = 'address-for-shop.example.sd-jwt';
      await until('the file is saved', () => readdirSync(folder.path).includes(name));
      expect(readFileSync(join(folder.path, name), 'utf8')).toBe(text);
      // `vault verify` of the very file, by the clock of this world.
      const clock = `const now = Date.now; Date.now = () => now() + ${world.shift()};`;
      writeFileSync(join(folder.path, 'clock.ts'), clock);
      const [bun = '', program = ''] = SOURCES;
      const keys = `${world.origin}/.well-known/jwt-vc-issuer`;
      const expected = ['--audience', 'https://shop.example', '--nonce', 'heron 48', '--json'];
      const run = [bun, '--preload', './clock.ts', program, 'verify', name, '--jwks', keys, ...expected];
      const { code, out } = await runToEnd(run, { cwd: folder.path, env: {} });
      expect([code, JSON.parse(out)]).toMatchObject([
        0,
        { verdict: 'good', facts: { email: here.email, shown_to: 'https://shop.example', nonce: 'heron 48' } },
      ]);
      folder.remove();
      const { payload, kb } = await sdJwt(world.origin).verify(text, options('heron 48'));
      expect(payload).toMatchObject({ iss: world.origin, email: here.email, email_domain: 'example.com' });
      expect(payload).not.toHaveProperty('sub');
      expect(kb?.payload).toMatchObject({ aud: 'https://shop.example', nonce: 'heron 48' });
      expect(await settled(sdJwt(world.origin).verify(text, options('another')))).toThrow();
    });

    test('of an address only what is behind the @ is shown, and each file has a key of its own, also where the clock is wrong', async () => {
      const here = await holder();
      await here.page.evaluate(() => {
        Date.now = () => 0;
      });
      await fillIn(here, here.email.toUpperCase());
      await here.page.click('#state-domain');
      const first = await sdJwt(world.origin).verify(await makeFile(here), options('heron 48'));
      expect([first.payload['email_domain'], first.payload['email']]).toEqual(['example.com', undefined]);
      await here.page.click('#statement [data-home]');
      await here.screen('home');
      await press(here.page, 'state');
      await here.screen('state-form');
      const second = await sdJwt(world.origin).verify(await makeFile(here), options('heron 48'));
      expect(second.payload['cnf']).not.toEqual(first.payload['cnf']);
    });

    test('each field says its fault: an address that the passkey does not hold, no address, no recipient, no word', async () => {
      const here = await holder();
      const { page } = here;
      await page.click('#state-form button[type=submit]');
      const faults = () =>
        page.$$eval('#state-form .fault:not([hidden])', (all) => all.map(({ textContent }) => textContent ?? ''));
      expect(await faults()).toEqual([
        'Enter an email address, or a phone number with its country code.',
        'Enter a web address, such as https://shop.example.',
        'Ask the recipient for a word.',
      ]);
      await fillIn(here, 'somebody.else@example.com');
      await page.click('#state-form button[type=submit]');
      await page.waitForSelector('#state-address-fault:not([hidden])');
      await until(
        'the vault has answered',
        async () => (await faults())[0]?.startsWith('This passkey has no such') ?? false,
      );
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('state-address');
    });

    test('a limit, a node that is away and a closed prompt are said in words, and the fields stay', async () => {
      const here = await holder();
      const { page } = here;
      await fillIn(here, here.email);
      const answers: { status: number; body: object }[] = [
        { status: 429, body: { ok: false, error: 'rate_limited', retry_after: 7_200 } },
        { status: 502, body: { ok: false, error: 'rpc_error' } },
      ];
      await page.setRequestInterception(true);
      page.on('request', (request) => {
        const answer = request.url().endsWith('/api/credentials') ? answers.shift() : undefined;
        if (!answer) return void request.continue();
        void request.respond({
          status: answer.status,
          contentType: 'application/json',
          body: JSON.stringify(answer.body),
        });
      });
      const said: string[] = [];
      for (const _ of [1, 2]) {
        await page.click('#state-form button[type=submit]');
        said.push(await here.screen('problem'));
        await press(page, 'retry');
        await here.screen('statement');
      }
      expect(said[0]).toContain('2 hours');
      expect(said[1]).toContain('cannot be reached');
      await page.evaluate(() => {
        navigator.credentials.get = () => Promise.reject(new DOMException('closed', 'NotAllowedError'));
      });
      await page.click('#state-form button[type=submit]');
      expect(await here.screen('problem')).toContain('No passkey was used');
      await press(page, 'retry');
      await here.screen('statement');
      expect(await page.$eval('#state-nonce', (one) => (one as HTMLInputElement).value)).toBe('heron 48');
    });

    test('nothing is offered to who has registered nothing, or where the vault has no credentials', async () => {
      const { page, screen } = await come(`${world.origin}/account`);
      await press(page, 'create');
      await screen('home');
      expect(await page.$eval('#state', (one) => (one as HTMLElement).hidden)).toBe(true);
      const here = await holder();
      await here.page.setRequestInterception(true);
      here.page.on('request', (request) => {
        if (!request.url().endsWith('/credentials/types/email')) return void request.continue();
        void request.respond({
          status: 404,
          contentType: 'application/json',
          body: '{"ok":false,"error":"not_found"}',
        });
      });
      await here.page.goto(`${world.origin}/account?none#statement`);
      await here.screen('home');
      expect(await here.page.$eval('#state', (one) => (one as HTMLElement).hidden)).toBe(true);
    });

    /** A call of the served client at an open page, for somebody's address. */
    const credentialAt = ({ page }: Here, script: string, email: string, passkey = 'true') =>
      page.evaluate(`import('${script}').then(async ({ createClient }) => {
        const vault = createClient({ url: '${world.origin}' });
        const mine = await vault.credential({ email: '${email}', passkey: ${passkey} });
        const shown = { audience: 'https://shop.example', nonce: 'n-1', disclose: ['email_domain', 'sub'] };
        return [mine.key.privateKey.extractable, await mine.present(shown)];
      }).catch(({ error, hint }) => [error, hint])`) as Promise<[unknown, string]>;

    test('evidence B4 vault.credential by the passkey names the DID, for a key that no script can read', async () => {
      const here = await holder();
      await here.page.setRequestInterception(true);
      here.page.on('request', (request) => {
        if (!request.url().endsWith('/app')) return void request.continue();
        void request.respond({
          contentType: 'text/html',
          body: '<!doctype html><title>An app of the operator</title>',
        });
      });
      await here.page.goto(`${world.origin}/app`);
      const [isExtractable, presented] = await credentialAt(here, '/client.js', ` ${here.email.toUpperCase()} `);
      expect(isExtractable).toBe(false);
      const { payload, kb } = await sdJwt(world.origin).verify(presented, options('n-1'));
      expect(payload).toMatchObject({ iss: world.origin, sub: here.did, email_domain: 'example.com' });
      expect(payload).not.toHaveProperty('email');
      expect(kb?.payload).toMatchObject({ aud: 'https://shop.example', nonce: 'n-1' });
      // Anybody was asked; after a sign-in by this client that person is, and one may be named.
      await here.page.evaluate(`{
        const get = navigator.credentials.get.bind(navigator.credentials);
        window.asked = [];
        navigator.credentials.get = (options) => {
          window.asked.push((options.publicKey.allowCredentials ?? []).length);
          return get(options);
        };
      }`);
      const named = `await vault.signIn().then(({ credentialId, smartAccount: account }) => ({ credentialId, account }))`;
      for (const passkey of ['(await vault.signIn(), true)', named]) {
        const [, again] = await credentialAt(here, '/client.js', here.email, passkey);
        expect((await sdJwt(world.origin).verify(again, options('n-1'))).payload).toMatchObject({ sub: here.did });
      }
      expect(await here.page.evaluate('window.asked')).toEqual([0, 1, 0, 1]);
    });

    test('evidence B4 vault.credential by the passkey is not_offered to a page of another origin, and asks nobody', async () => {
      const here = await holder();
      const asked: string[] = [];
      here.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await here.page.goto(world.app.origin);
      await here.page.evaluate(() => {
        navigator.credentials.get = () => Promise.reject(new Error('a passkey was asked'));
      });
      const [error, hint] = await credentialAt(here, `${world.origin}/client.js`, here.email);
      expect(error).toBe('not_offered');
      expect(hint).toContain(world.origin);
      expect(asked).not.toContain('/authorize/code');
      expect(asked).not.toContain('/api/credentials');
    });
  });

  describe('an address that somebody else has proven', () => {
    /** The holder's page once somebody else has proven the address by a code. */
    const challenged = async () => {
      const { email, did, passkeys } = await registered();
      const { did: otherDid } = await register(world, email);
      await awaitRow(world, 'SELECT 1 FROM challenges WHERE did = :did AND judged_at IS NOT NULL', { did: otherDid });
      const { page, ...owner } = await come(`${world.origin}/account`, { passkeys });
      await press(page, 'sign-in');
      await owner.screen('home');
      const holds = async () => {
        const sql = `SELECT did FROM registrations WHERE identifier = :key AND holds = 1`;
        return (await world.t.rows(sql, { key: `email:${email}` }))[0]?.['did'];
      };
      return { email, did, otherDid, page, ...owner, holds };
    };

    test('is first of all, and stays by a code and the passkey', async () => {
      const { email, did, otherDid, page, screen, typeCode: _, holds } = await challenged();
      const said = await page.$eval('#notices > :first-child', ({ textContent }) => textContent);
      expect(said).toMatch(
        /Somebody else has proven an address of this account\.It moves on .*, unless it is still yours/,
      );
      expect(said).not.toContain(otherDid.slice(-8));
      await page.click('#notices > .bad:first-child button');
      expect(await screen('mail')).toContain('Keep your address');
      await proveAddress({ page, screen }, email, world.t.codeFor);
      expect(await screen('done')).toContain(`${email} stays with this account`);
      expect(await holds()).toBe(did);
      await press(page, 'done-go');
      await screen('home');
      expect(await page.$$('#notices [role=alert]')).toEqual([]);
    });

    test('stays also where strangers have used up its codes: the passkey asks for one', async () => {
      const { email, did, page, screen, holds } = await challenged();
      const ask = () => world.t.call('POST /api/verify/send', { identifier: email, channel: 'email' });
      await until('no code is left', async () => (await ask()).status === 429);
      // As the mail's link leads there.
      await page.goto(`${world.origin}/account#keep`);
      await page.reload();
      expect(await screen('mail')).toContain('Keep your address');
      await proveAddress({ page, screen }, email, world.t.codeFor);
      expect(await screen('done')).toContain(`${email} stays with this account`);
      expect(await holds()).toBe(did);
    });

    test('goes to the other account by the passkey alone', async () => {
      const { email, otherDid, page, screen, holds } = await challenged();
      await page.click('#notices > .bad:first-child .link');
      expect(await screen('mail')).toContain('Let the address go?');
      await type(page, 'email', email.toUpperCase());
      await page.keyboard.press('Enter');
      expect(await screen('done')).toContain('goes to the other account');
      await until('it has moved', async () => (await holds()) === otherDid);
    });
  });
});
