import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type AuthorizeWorld, startAuthorizeWorld, visitorAt } from '../support/authorize-page.ts';
import { createPasskeys, press } from '../support/pay.ts';

const APP = join(import.meta.dir, '../../examples/apps/link.ts');

describe.skipIf(!chromium)('examples/apps/link.ts, whose whole sign-in is a link, an exchange and a look', () => {
  let world: AuthorizeWorld;
  let app: { fetch(request: Request): Promise<Response> } | undefined;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }),
  });
  const origin = `http://localhost:${server.port}`;
  beforeAll(async () => {
    world = await startAuthorizeWorld({}, { tea: { redirect_uris: [`${origin}/back`] } }, { relayOnly: true });
    const text = await Bun.file(APP).text();
    const folder = mkdtempSync(join(tmpdir(), 'vault-link-'));
    const own = text.replaceAll('https://vault.example.com', world.origin).replaceAll('https://tea.example', origin);
    writeFileSync(join(folder, 'link.ts'), own);
    ({ default: app } = await import(join(folder, 'link.ts')));
    rmSync(folder, { recursive: true });
  });
  afterAll(async () => {
    await server.stop(true);
    await world.stop();
  });
  const come = async () => {
    const context = await world.own.browser.createBrowserContext();
    const page = await context.newPage();
    await createPasskeys().attach(page);
    await page.goto(origin);
    return { ...visitorAt(page, world.t), context };
  };
  const said = (page: Awaited<ReturnType<typeof come>>['page'], words: string) =>
    page.waitForFunction((text) => document.body.textContent?.includes(text), {}, words);

  test('has no script, no key and one link to the vault', async () => {
    const html = await (await fetch(origin)).text();
    expect(html).not.toContain('<script');
    expect(html.match(/https?:\/\/[^"]*authorize\?/g)).toHaveLength(1);
    expect(html).toContain(`href="${world.origin}/authorize?`);
  });

  test('knows the person who comes back', async () => {
    const visitor = await come();
    await press(visitor.page, 'sign-in');
    await visitor.enter('link@example.com');
    await visitor.typeCode('link@example.com');
    await press(visitor.page, 'passkey-go');
    await said(visitor.page, 'Welcome, did:pkh:eip155:84532:0x');
    const taken = await world.t.call('GET /api/sessions/check', { identifier: 'link@example.com' });
    expect(taken.body).toMatchObject({ available: false });
    // The address bar's code is used up, and so is what it was checked against.
    await visitor.page.reload();
    await said(visitor.page, 'This answers no link of ours.');
    await visitor.context.close();
  });

  test('takes no answer to a link that this browser did not open', async () => {
    const visitor = await come();
    const answer = { code: 'stolen', state: 'other', iss: world.origin };
    await visitor.page.goto(`${origin}/back?${new URLSearchParams(answer)}`);
    await said(visitor.page, 'This answers no link of ours.');
    await visitor.context.close();
  });

  test('takes no answer with an empty state from a browser that opened no link', async () => {
    for (const cookie of ['', 'sign-in=']) {
      const answer = new URLSearchParams({ code: 'stolen', state: '', iss: world.origin });
      const told = await fetch(`${origin}/back?${answer}`, { headers: { cookie } });
      expect(await told.text()).toContain('This answers no link of ours.');
    }
  });

  test('says so when the person pressed Cancel', async () => {
    const visitor = await come();
    await press(visitor.page, 'sign-in');
    await visitor.screen('start');
    await press(visitor.page, 'cancel');
    await said(visitor.page, 'Not signed in.');
    await visitor.context.close();
  });
});
