import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import type { BrowserContext, Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { keepWorking } from '../support/background.ts';
import { clientsFile, FORM, partsOf } from '../support/openid.ts';
import { awaitSelector, createPasskeys, type PayWorld, press, startPayWorld } from '../support/pay.ts';
import { visitorAt } from '../support/register-page.ts';

describe.skipIf(!chromium)('in Chromium', () => {
  const app = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response('<!doctype html><title>Tea</title><p id="welcome">Welcome</p>', {
        headers: { 'content-type': 'text/html; charset=utf-8' },
      }),
  });
  const redirectUri = `http://localhost:${app.port}/back`;

  let world: PayWorld;
  let endWork: () => Promise<unknown>;
  let context: BrowserContext;
  const passkeys = createPasskeys();
  beforeAll(async () => {
    const { operatorFiles } = clientsFile({ tea: { redirect_uris: [redirectUri] } });
    const registrar = { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey };
    const more = { ...registrar, APPS: 'tea', CLIENTS: 'clients.json', RELAY_DAILY_MAX: '1000000' };
    world = await startPayWorld({ pagesOnly: true, more, operatorFiles });
    endWork = keepWorking(world.t, 200);
    context = await world.own.browser.createBrowserContext();
  });
  afterAll(async () => {
    await endWork();
    await world.stop();
    await app.stop(true);
  });

  const verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const RIGHT = { client_id: 'tea', redirect_uri: redirectUri, response_type: 'code', code_challenge };

  async function open(change: Readonly<Record<string, string>> = {}): Promise<Page> {
    const request = {
      ...RIGHT,
      scope: 'openid email',
      state: 's+t',
      nonce: 'n',
      code_challenge_method: 'S256',
      ...change,
    };
    const page = await context.newPage();
    await passkeys.attach(page);
    await page.goto(`${world.origin}/authorize?${new URLSearchParams(request)}`);
    return page;
  }

  /** What came back to the app, and what the code is exchanged for. */
  async function arrive(page: Page) {
    await awaitSelector(page, '#welcome');
    const query = Object.fromEntries(new URL(page.url()).searchParams);
    const form = { grant_type: 'authorization_code', code: query['code'] ?? '', redirect_uri: redirectUri };
    const body = new URLSearchParams({ ...form, code_verifier: verifier, client_id: 'tea' });
    const response = await fetch(`${world.t.url}/token`, { method: 'POST', headers: FORM, body });
    const tokens = (await response.json()) as { id_token: string };
    return { query, claims: partsOf(tokens.id_token)[1] ?? {} };
  }

  describe('an app of CLIENTS', () => {
    let sub: unknown;

    test('a new person: what the app gets in words, a code, a passkey, and an ID token', async () => {
      const page = await open();
      const visitor = visitorAt(page, world.t);
      expect(await visitor.screen('start')).toContain(`localhost:${app.port} gets your email address.`);
      await visitor.enter('ada@example.com');
      await visitor.typeCode('ada@example.com');
      await press(page, 'passkey-go');
      const { query, claims } = await arrive(page);
      expect(query).toMatchObject({ state: 's+t', iss: world.origin });
      expect(claims).toMatchObject({ iss: world.origin, aud: 'tea', nonce: 'n', email: 'ada@example.com' });
      sub = claims['sub'];
    });

    test('a returning person: one touch', async () => {
      const page = await open({ scope: 'openid did' });
      expect(await visitorAt(page, world.t).screen('start')).toContain('your public account on the network');
      await press(page, 'sign-in');
      const { claims } = await arrive(page);
      expect(claims).toMatchObject({ sub, did: expect.stringMatching(/^did:pkh:/) });
      expect(claims).not.toHaveProperty('email');
    });

    test('Cancel leads back with access_denied', async () => {
      const page = await open();
      await visitorAt(page, world.t).screen('start');
      await press(page, 'cancel');
      await awaitSelector(page, '#welcome');
      const query = Object.fromEntries(new URL(page.url()).searchParams);
      expect(query).toMatchObject({ error: 'access_denied', state: 's+t', iss: world.origin });
    });

    test('a wrong redirect URI leads nowhere, and the console and on loopback the page say what is wrong', async () => {
      const page = await context.newPage();
      const said: string[] = [];
      page.on('console', (message) => said.push(message.text()));
      const wrong = { ...RIGHT, redirect_uri: `${redirectUri}/`, scope: 'openid', code_challenge_method: 'S256' };
      await page.goto(`${world.origin}/authorize?${new URLSearchParams(wrong)}`);
      await visitorAt(page, world.t).screen('problem');
      const detail = await page.$eval('#problem-detail', (element) => element.textContent);
      expect(detail).toContain(`CLIENTS has: ${redirectUri}`);
      expect(said.filter((line) => line.startsWith('redirect_uri of this link is not one'))).toHaveLength(1);
    });
  });
});
