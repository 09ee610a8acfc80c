import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { BrowserContext, Page } from 'puppeteer-core';
import { startBrowser } from '../../scripts/dev-stack/browser.ts';
import { createPasskeys } from '../../scripts/dev-stack/browser-passkeys.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { visitorAt } from '../support/authorize-page.ts';
import { testClock } from '../support/clock.ts';
import { createTokenHosts, DOMAIN, ISSUER, issuerJwk, issueToken, TOKEN_VARS } from '../support/email-tokens.ts';
import { clientsFile, OPENID_VARS, requestOf } from '../support/openid.ts';
import { TEST_CERTIFICATES } from '../support/tls.ts';
import { until } from '../support/until.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// Chromium's own email tokens, offline: its feature is on, an issuer and the DNS stand on this machine.

const REGISTRAR = { REGISTRAR_PRIVATE_KEY: '46'.repeat(32), DID_REGISTRY_ADDRESS: `0x${'d1'.repeat(20)}` };
const EMAIL = `ada@${DOMAIN}`;

/** The issuer of the mail domain, as a browser meets it, and its resolver. */
function startIssuer() {
  const tls = TEST_CERTIFICATES['hooks.example'];
  const issued: string[] = [];
  const issuer = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/') {
        const session = { 'set-login': 'logged-in', 'set-cookie': 's=1; Secure; HttpOnly; SameSite=None; Path=/' };
        return new Response('mail', { headers: { 'content-type': 'text/html', ...session } });
      }
      if (pathname === '/.well-known/web-identity')
        return Response.json({ accounts_endpoint: `https://${ISSUER}/accounts`, login_url: `https://${ISSUER}/` });
      if (pathname === '/.well-known/email-verification')
        return Response.json({
          issuance_endpoint: `https://${ISSUER}/issue`,
          jwks_uri: `https://${ISSUER}/jwks`,
          signing_alg_values_supported: ['EdDSA', 'ES256'],
        });
      if (pathname === '/accounts')
        return Response.json({ accounts: [{ id: '1', name: 'Ada', given_name: 'Ada', email: EMAIL }] });
      if (pathname === '/jwks') return Response.json({ keys: [issuerJwk] });
      if (pathname !== '/issue') return new Response('', { status: 404 });
      // RFC 9421: the key of the request's signature is the browser's, to which the token is bound.
      const given = request.headers.get('signature-key') ?? '';
      const members = [...given.matchAll(/(kty|crv|x|y)="([^"]+)"/g)].map(([, name, value]) => [name, value]);
      const { email } = (await request.json()) as { email: string };
      issued.push(email);
      const holder = { crv: 'Ed25519', ...Object.fromEntries(members) };
      return Response.json({ issuance_token: issueToken({ email, now: Date.now(), cnf: { jwk: holder } }) });
    },
  });
  const resolver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls,
    fetch(request) {
      const name = new URL(request.url).searchParams.get('name') ?? '';
      const is = name === `_email-verification.${DOMAIN}`;
      const Answer = is ? [{ name: `${name}.`, type: 16, TTL: 300, data: `iss=${ISSUER}` }] : undefined;
      const flags = { TC: false, RD: true, RA: true, AD: true, CD: false };
      return Response.json({ Status: is ? 0 : 3, ...flags, Question: [{ name: `${name}.`, type: 16 }], Answer });
    },
  });
  return {
    issued,
    rules: `MAP ${ISSUER}:443 127.0.0.1:${issuer.port}, MAP dns.google:443 127.0.0.1:${resolver.port}`,
    stop: async () => {
      await Promise.all([issuer.stop(true), resolver.stop(true)]);
    },
  };
}

describe.skipIf(!chromium)('in Chromium', () => {
  const hosts = createTokenHosts();
  const mail = startIssuer();
  let t: TestVault;
  let own: Awaited<ReturnType<typeof startBrowser>>;
  let context: BrowserContext;
  const vars = { ...OPENID_VARS, ...REGISTRAR, ...TOKEN_VARS };
  // A browser's times are this machine's; a token is good for five minutes, and the vault's clock stands still.
  const start = () =>
    startVault(vars, {
      ...clientsFile(),
      documentFetch: hosts.documentFetch,
      clock: testClock(Date.now() + 120_000),
    });
  beforeAll(async () => {
    t = await start();
    own = await startBrowser(
      '--enable-features=EmailVerificationProtocol',
      '--auto-grant-email-verification-permission-for-testing',
      '--ignore-certificate-errors',
      `--host-resolver-rules=${mail.rules}`,
    );
    context = own.browser.defaultBrowserContext();
    const page = await context.newPage();
    await page.goto(`https://${ISSUER}/`);
    await page.close();
  });
  afterAll(async () => {
    await own?.close();
    await t?.stop();
    await mail.stop();
  });

  const open = async () => {
    const page = await context.newPage();
    await createPasskeys().attach(page);
    const origin = t.url.replace('127.0.0.1', 'localhost');
    await page.goto(`${origin}/authorize?${requestOf('tea').query}`);
    const visitor = visitorAt(page, t);
    await visitor.screen('start');
    return { page, visitor };
  };

  /** Types the address key by key, as a person does. */
  const type = async (page: Page) => {
    await page.click('#address', { count: 3 });
    await page.keyboard.type(EMAIL);
  };
  /** Types it and leaves the field until the browser has asked for a token: it sees a form some time after a change. */
  const leave = async (page: Page) => {
    const before = mail.issued.length;
    await type(page);
    await until('the issuer has issued', async () => {
      if (mail.issued.length > before) return true;
      await page.focus('#address');
      await page.keyboard.press('Tab');
      return false;
    });
  };
  /**
   * Goes on from the field itself, in a new window as often as the browser has not seen the form in time: then a code
   * is sent, as ever.
   */
  const goOn = (submit: (page: Page) => Promise<void>) =>
    until('a window without a code', async () => {
      const sent = t.mailsTo(EMAIL).length;
      const { page, visitor } = await open();
      await type(page);
      await submit(page);
      await page.waitForSelector('#passkey:not([hidden]), #code:not([hidden])');
      const isShown = (await page.$('#passkey:not([hidden])')) !== null;
      expect(t.mailsTo(EMAIL).length).toBe(isShown ? sent : sent + 1);
      if (isShown) expect(await visitor.screen('passkey')).toContain(EMAIL);
      await page.close();
      return isShown;
    });

  test('an address that the browser can show takes no code', async () => {
    await goOn((page) => page.keyboard.press('Enter'));
    expect(new Set(mail.issued)).toEqual(new Set([EMAIL]));
  });

  test('the button serves as the key does, also where the field was left before', async () => {
    await goOn((page) => page.click('#address-go'));
    const { page, visitor } = await open();
    await leave(page);
    await page.click('#address-go');
    expect(await visitor.screen('passkey')).toContain(EMAIL);
    await page.close();
  });

  test('an address of another domain gets a code, as ever', async () => {
    const { page, visitor } = await open();
    await visitor.enter('ada@example.com');
    expect(await visitor.screen('code')).toContain('ada@example.com');
    await page.close();
  });

  test('a token that the vault does not take leads to a code by itself', async () => {
    hosts.answers.clear();
    await t.stop();
    t = await start();
    const { page, visitor } = await open();
    await leave(page);
    await page.focus('#address');
    await page.keyboard.press('Enter');
    expect(await visitor.screen('code')).toContain(EMAIL);
    expect(hosts.asked.length).toBeGreaterThan(0);
    await page.close();
  });
});
