import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import type { BrowserContext, Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { AGENT, createAgentHost } from '../support/agents.ts';
import { visitorAt } from '../support/authorize-page.ts';
import { keepWorking } from '../support/background.ts';
import { clientsFile, FORM, partsOf } from '../support/openid.ts';
import { awaitSelector, createPasskeys, type PayWorld, press, startPayWorld } from '../support/pay.ts';

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

  const RESOURCE = 'https://mcp.tea.example/mcp';

  let world: PayWorld;
  let endWork: () => Promise<unknown>;
  let context: BrowserContext;
  const passkeys = createPasskeys();
  beforeAll(async () => {
    const resources = [{ url: RESOURCE, scopes: ['notes:read'] }];
    const { operatorFiles } = clientsFile({ tea: { redirect_uris: [redirectUri], resources } });
    const registrar = { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey };
    const own = { APPS: 'tea', CLIENTS: 'clients.json', CLIENT_METADATA_HOSTS: 'agent.example' };
    const more = { ...registrar, ...own, RELAY_DAILY_MAX: '1000000' };
    const { documentFetch } = createAgentHost();
    world = await startPayWorld({ pagesOnly: true, relayOnly: true, more, operatorFiles, documentFetch });
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

  /** Where the browser came back, and what the code is exchanged for. */
  async function exchanged(page: Page, change: Readonly<Record<string, string>> = {}) {
    await awaitSelector(page, '#welcome');
    const query = Object.fromEntries(new URL(page.url()).searchParams);
    const form = { grant_type: 'authorization_code', code: query['code'] ?? '', redirect_uri: redirectUri };
    const body = new URLSearchParams({ ...form, code_verifier: verifier, client_id: 'tea', ...change });
    const response = await fetch(`${world.t.url}/token`, { method: 'POST', headers: FORM, body });
    const tokens = (await response.json()) as Readonly<Record<'access_token' | 'id_token', string>>;
    return { query, tokens };
  }

  async function arrive(page: Page) {
    const { query, tokens } = await exchanged(page);
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

  describe('an agent that nobody registered, by the URL of its document', () => {
    const callback = `http://127.0.0.1:${app.port}/callback`;
    const asked = { client_id: AGENT, redirect_uri: callback, resource: RESOURCE, scope: 'notes:read' };

    test('the page names the host of the document, the server and where the answer goes; then it has a token', async () => {
      const page = await open(asked);
      const visitor = visitorAt(page, world.t);
      const text = await visitor.screen('start');
      expect(await page.title()).toContain('agent.example');
      expect(text).toContain(`agent.example may use ${RESOURCE} in your name.`);
      const device = `The answer goes to a program on this device (127.0.0.1:${app.port}). Continue only if you started it.`;
      expect(text).toContain(device);
      expect(await page.$eval('body', (body) => body.textContent)).not.toContain('Claude');
      await visitor.enter('agatha@example.com');
      await visitor.typeCode('agatha@example.com');
      // It says so again where the person agrees.
      const last = await visitor.screen('passkey');
      for (const line of [`agent.example may use ${RESOURCE}`, device]) expect(last).toContain(line);
      await press(page, 'passkey-go');
      const { query, tokens } = await exchanged(page, { client_id: AGENT, redirect_uri: callback });
      expect(new URL(page.url()).origin).toBe(new URL(callback).origin);
      expect(query).toMatchObject({ state: 's+t', iss: world.origin });
      const [header, claims] = partsOf(tokens.access_token);
      expect(header).toMatchObject({ typ: 'at+jwt' });
      expect(claims).toMatchObject({ aud: RESOURCE, client_id: AGENT, scope: 'notes:read' });
      expect(tokens).not.toHaveProperty('id_token');
    });

    test('that is a page of its own host: nothing is said of a program on the device', async () => {
      const page = await open({ ...asked, redirect_uri: 'https://agent.example/back' });
      const text = await visitorAt(page, world.t).screen('start');
      expect(text).toContain('agent.example may use');
      expect(text).not.toContain('on this device (');
    });

    test('Cancel leads back to it with access_denied', async () => {
      const page = await open(asked);
      await visitorAt(page, world.t).screen('start');
      await press(page, 'cancel');
      await awaitSelector(page, '#welcome');
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ error: 'access_denied' });
    });
  });
});
