import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { otherCode } from '../support/digits.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OWNER = '203.0.113.7';
const alice = { identifier: 'alice@example.com', channel: 'email' };

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

let others = 0;
const other = () => `198.51.100.${++others}`;
const send = (ip: string, more = {}) => t.from(ip).call('POST /api/verify/send', { ...alice, ...more });
const check = (ip: string, code: string, more = {}) =>
  t.from(ip).call('POST /api/verify/check', { ...alice, code, ...more });
const press = async (ip: string, pass: string) =>
  (await t.from(ip).post('/pass', new URLSearchParams({ pass }))).headers.get('location');

/** A pass, and no send left to the address: five strangers asked. */
async function takenPass(): Promise<string> {
  for (let i = 0; i < 5; i++) expect((await send(other())).status).toBe(200);
  return t.passFor(alice.identifier);
}

describe('the page of a pass', () => {
  test.each([
    ['/pass', 'text/html; charset=utf-8'],
    ['/pass/ready', 'text/html; charset=utf-8'],
    ['/pass/ended', 'text/html; charset=utf-8'],
    ['/pass/pass.js', 'text/javascript; charset=utf-8'],
    ['/pass/pass.css', 'text/css; charset=utf-8'],
  ])('%s is served with nothing allowed but what is ours', async (path, type) => {
    const { status, headers, text } = await t.call(`GET ${path}`);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    if (!type.startsWith('text/html')) return;
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect([headers.get('x-frame-options'), headers.get('referrer-policy')]).toEqual(['DENY', 'no-referrer']);
    expect(text).not.toMatch(/<script>|<style>| style=| on\w+=|https?:/);
  });

  test('only the POST of the button lets a client send, and only that client', async () => {
    const pass = await takenPass();
    // What a mail scanner does: it opens the link, also where it takes the fragment for a part of the path or query.
    for (const path of [`/pass#${pass}`, `/pass?pass=${pass}`, `/pass?${pass}`]) {
      expect((await t.from(OWNER).call(`GET ${path}`)).status).toBe(200);
      expect((await t.from(OWNER).call(`HEAD ${path}`)).status).toBe(200);
    }
    expect((await send(OWNER)).status).toBe(429);
    expect(await press(OWNER, pass)).toBe('/pass/ready');
    expect((await send(OWNER)).status).toBe(200);
    expect((await send(other())).status).toBe(429);
  });

  test('what is no form is refused, and so is a pass of another form', async () => {
    const json = JSON.stringify({ pass: await takenPass() });
    const reply = await t.post('/pass', json, { 'Content-Type': 'application/json' });
    expect([reply.status, reply.body.error]).toEqual([
      415,
      'Unsupported media type: send Content-Type: application/x-www-form-urlencoded',
    ]);
    expect((await t.post('/pass', new URLSearchParams({ pass: '' }))).body.error).toBe('Missing required fields: pass');
    expect((await t.post('/pass', new URLSearchParams({ pass: 'x'.repeat(65) }))).body.error).toBe('Invalid pass');
    for (const pass of ['x', '-', 'ü', '0-', 'zzzzzzzzzzzzzzzz-0', `${t.clock.now().toString(36)}-${'0'.repeat(32)}`])
      expect(await press(OWNER, pass)).toBe('/pass/ended');
  });

  test('a click on it where only listed origins may write works: a page’s own form', async () => {
    const own = await startVault({ ALLOWED_ORIGINS: 'https://shop.example.com' });
    await own.call('POST /api/verify/send', alice);
    const body = new URLSearchParams({ pass: own.passFor(alice.identifier) });
    // What Chromium sends with a form of a page under no-referrer.
    const { status, headers } = await own.post('/pass', body, { Origin: 'null' });
    expect([status, headers.get('location')]).toEqual([303, '/pass/ready']);
    await own.stop();
  });
});

describe('a pass', () => {
  test('lets its client send for 15 minutes, at the exact edge; the button may be pressed again', async () => {
    const pass = await takenPass();
    await press(OWNER, pass);
    await t.clock.advance(15 * MINUTE - 1);
    expect((await send(OWNER)).status).toBe(200);
    await t.clock.advance(1);
    expect((await send(OWNER)).status).toBe(429);
    expect(await press(OWNER, pass)).toBe('/pass/ready');
    expect((await send(OWNER)).status).toBe(200);
  });

  test('works for 24 hours, at the exact edge, on the page and in a send', async () => {
    await send(OWNER);
    const pass = t.passFor(alice.identifier);
    await t.clock.advance(24 * HOUR - 1);
    expect(await press(OWNER, pass)).toBe('/pass/ready');
    expect((await send(OWNER, { pass })).status).toBe(200);
    await t.clock.advance(1);
    expect(await press(OWNER, pass)).toBe('/pass/ended');
    const { status, body } = await send(OWNER, { pass });
    expect([status, body.error]).toEqual([403, 'pass_invalid']);
  });

  test('that is pressed in its last moment lets its client send for 15 minutes, also after a sweep', async () => {
    await send(OWNER);
    const pass = t.passFor(alice.identifier);
    await t.clock.advance(24 * HOUR - 1);
    for (let i = 0; i < 5; i++) expect((await send(other())).status).toBe(200);
    expect(await press(OWNER, pass)).toBe('/pass/ready');
    await t.clock.advance(15 * MINUTE - 1);
    await t.work();
    expect((await send(OWNER)).status).toBe(200);
    await t.clock.advance(1);
    expect((await send(OWNER)).status).toBe(429);
  });

  test('sends five codes an hour, apart from the five of the identifier and the three of the IP', async () => {
    const pass = await takenPass();
    for (let i = 0; i < 5; i++) {
      const { status, body } = await send(OWNER, { pass });
      expect([status, body.retry_after]).toEqual([200, i === 4 ? 3600 : 0]);
    }
    const refused = await send(OWNER, { pass });
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([
      429,
      '"pass-sends-per-identifier";q=5;w=3600',
    ]);
    for (let i = 0; i < 3; i++)
      expect((await send(OWNER, { identifier: `other${i}@example.com` })).body.retry_after).toBe(i === 2 ? 86_400 : 0);
    await t.clock.advance(HOUR);
    expect((await send(OWNER, { pass })).status).toBe(200);
  });

  test('for many mailboxes of one’s own is no way round: 50 pass sends a day and client', async () => {
    const own = await startVault();
    const passes: [string, string][] = [];
    for (let i = 0; i < 11; i++) {
      const identifier = `box${i}@evil.example`;
      await own.from(other()).call('POST /api/verify/send', { identifier, channel: 'email' });
      passes.push([identifier, own.passFor(identifier)]);
    }
    const statuses: number[] = [];
    for (const [identifier, pass] of passes) {
      for (let i = 0; i < 5; i++) {
        const body = { identifier, channel: 'email', pass };
        statuses.push((await own.from(OWNER).call('POST /api/verify/send', body)).status);
      }
    }
    expect(statuses).toEqual([...Array(50).fill(200), ...Array(5).fill(429)]);
    await own.stop();
  });

  test('is for its own identifier; one that is none sends nothing and counts nothing', async () => {
    await send(OWNER);
    const pass = t.passFor(alice.identifier);
    for (const [identifier, given] of [
      ['bob@example.com', pass],
      [alice.identifier, 'x'.repeat(32)],
    ]) {
      for (let i = 0; i < 5; i++) {
        const { status, body } = await send(other(), { identifier, pass: given });
        expect([status, body.error]).toEqual([403, 'pass_invalid']);
      }
    }
    expect(await t.rows('SELECT count(*) AS n FROM codes')).toEqual([{ n: 1 }]);
  });

  test('sends codes that answer only their client or their challenge, never a stranger', async () => {
    const pass = await takenPass();
    const { challenge } = (await send(OWNER, { pass })).body;
    const code = t.codeFor(alice.identifier);
    await t.clock.advance(1);
    expect((await check(other(), code)).body).toEqual({ ok: true, verified: false, message: 'Incorrect code' });
    expect((await check(other(), otherCode(code), { challenge })).body.attempts_remaining).toBe(4);
    expect((await check(other(), code, { challenge })).body.verified).toBe(true);
  });

  test('is not carried by a message that a pass let through: passes cannot be chained past their day', async () => {
    const pass = await takenPass();
    await send(OWNER, { pass });
    expect(t.mailsTo(alice.identifier).at(-1)).toEqual({ code: expect.stringMatching(/^\d{6}$/), pass: undefined });
  });

  test('that leaked is worth 20 guesses, and then ends; the next one works', async () => {
    const pass = await takenPass();
    const first = t.mailsTo(alice.identifier)[0]?.pass ?? '';
    for (let i = 0; i < 4; i++) {
      const { challenge } = (await send(OWNER, { pass })).body;
      for (let k = 0; k < 5; k++) await check(OWNER, otherCode(t.codeFor(alice.identifier)), { challenge });
    }
    expect((await send(OWNER, { pass })).body.error).toBe('pass_invalid');
    expect(await press(OWNER, pass)).toBe('/pass/ended');
    await t.clock.advance(HOUR);
    expect((await send(OWNER, { pass: first })).status).toBe(200);
    expect((await check(OWNER, t.codeFor(alice.identifier))).body.verified).toBe(true);
  });

  test('has at most 20 clients at a time', async () => {
    await send(OWNER);
    const pass = t.passFor(alice.identifier);
    for (let i = 0; i < 20; i++) expect(await press(other(), pass)).toBe('/pass/ready');
    expect(await press(OWNER, pass)).toBe('/pass/ended');
    await t.clock.advance(15 * MINUTE);
    expect(await press(OWNER, pass)).toBe('/pass/ready');
    await t.work();
    expect(await t.rows('SELECT count(*) AS n FROM pass_grants')).toEqual([{ n: 1 }]);
  });

  test('is stored as a digest only', async () => {
    await send(OWNER);
    const stored = JSON.stringify(await t.rows('SELECT * FROM codes'));
    expect(stored).not.toContain(t.passFor(alice.identifier));
  });
});
