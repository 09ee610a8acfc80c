import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type HeldCredential } from '../../client/vault/index.ts';
import { toolPath } from '../../scripts/testing/tools.ts';
import { testClock } from '../support/clock.ts';
import { createHolder } from '../support/credentials.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const APP = join(import.meta.dir, '../../examples/apps/proof.mjs');
const ROOM = { MAX_VERIFY_SENDS_PER_IP: '100', RATE_LIMIT_CODES_PER_IDENTIFIER: '100' };

let app: { fetch(request: Request): Promise<Response> } | undefined;
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }),
});
const club = `http://localhost:${server.port}`;
let t: TestVault;
let ada: HeldCredential;
beforeAll(async () => {
  // The app and the client judge by the time of this machine.
  t = await startVault(ROOM, { clock: testClock(Date.now()) });
  const text = await Bun.file(APP).text();
  const own = text.replaceAll('https://vault.example.com', originOf(t)).replaceAll('https://club.example', club);
  // Beside the packages that the example imports.
  const folder = mkdtempSync(toolPath('.proof-'));
  writeFileSync(join(folder, 'proof.mjs'), own);
  ({ default: app } = await import(join(folder, 'proof.mjs')));
  rmSync(folder, { recursive: true });
  ada = await credentialOf('ada@example.com');
});
afterAll(async () => {
  await server.stop(true);
  await t.stop();
});

function credentialOf(email: string) {
  const vault = createClient({ url: originOf(t), storage: null });
  return vault.credential({ email, askCode: () => t.codeFor(email) });
}

async function ask(path: string, body: object = {}) {
  const answer = await fetch(club + path, { method: 'POST', body: JSON.stringify(body) });
  return (await answer.json()) as { nonce: string; says: string };
}

const show = async (nonce: string, presentation: string) => (await ask('/shown', { nonce, presentation })).says;

/** A good showing for a new nonce. */
async function showing(audience = club, held = ada) {
  const { nonce } = await ask('/nonces');
  return { nonce, presentation: await held.present({ audience, nonce, disclose: ['email_domain'] }) };
}

/** A credential that a stranger signed, for a key of the stranger's. */
async function forged(change: (claims: Record<string, unknown>) => object) {
  const holder = await createHolder();
  const [token = '', ...rest] = ada.credential.split('~');
  const [head = '', body = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  const changed = { ...claims, cnf: { jwk: holder.jwk }, ...change(claims) };
  const signed = `${head}.${Buffer.from(JSON.stringify(changed)).toString('base64url')}`;
  const credential = [`${signed}.${await holder.sign(signed)}`, ...rest].join('~');
  const publicKey = await crypto.subtle.importKey('jwk', holder.jwk, { name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'verify',
  ]);
  const vault = createClient({ url: originOf(t), storage: null });
  return vault.credential({ credential, key: { publicKey, privateKey: holder.privateKey } });
}

describe('examples/apps/proof.mjs, which knows a vault by its name alone', () => {
  test('lets in who shows where they work, and learns no address', async () => {
    const { nonce, presentation } = await showing();
    const shown = presentation.split('~').slice(1, -1);
    expect(shown.map((one) => Buffer.from(one, 'base64url').toString())).toEqual([
      expect.stringContaining('"email_domain","example.com"'),
    ]);
    expect(await show(nonce, presentation)).toBe('Welcome from example.com');
  });

  test('refuses a showing that comes again, by its old nonce and by a new one', async () => {
    const { nonce, presentation } = await showing();
    expect(await show(nonce, presentation)).toBe('Welcome from example.com');
    expect(await show(nonce, presentation)).toBe('Refused: nonce');
    const { nonce: next } = await ask('/nonces');
    expect(await show(next, presentation)).toStartWith('Refused: ');
  });

  test('refuses a showing that was made for another service', async () => {
    const { nonce, presentation } = await showing('https://shop.example');
    expect(await show(nonce, presentation)).toBe('Refused: audience');
  });

  test('refuses a copy without key binding, and one whose holder’s key is another', async () => {
    const { nonce } = await ask('/nonces');
    expect(await show(nonce, ada.credential)).toStartWith('Refused: ');
    const bob = await credentialOf('bob@example.com');
    const taken = await createClient({ url: originOf(t), storage: null }).credential({
      credential: ada.credential,
      key: bob.key,
    });
    const mixed = await showing(club, taken);
    expect(await show(mixed.nonce, mixed.presentation)).toStartWith('Refused: ');
  });

  test('refuses an issuer that is not in its list, and a stranger’s signature under a name that is', async () => {
    const foreign = await showing(club, await forged(() => ({ iss: 'https://evil.example' })));
    expect(await show(foreign.nonce, foreign.presentation)).toBe('Refused: issuer');
    const lied = await showing(club, await forged(() => ({})));
    expect(await show(lied.nonce, lied.presentation)).toStartWith('Refused: ');
  });

  test('refuses a host that is not invited, a claim that is not shown, and no credential at all', async () => {
    const other = await showing(club, await credentialOf('eve@elsewhere.example'));
    expect(await show(other.nonce, other.presentation)).toBe('Refused: host');
    const { nonce } = await ask('/nonces');
    expect(await show(nonce, await ada.present({ audience: club, nonce }))).toBe('Refused: host');
    for (const text of ['', 'x', '~', 'a.b.c~']) {
      const { nonce: next } = await ask('/nonces');
      expect(await show(next, text)).toStartWith('Refused: ');
    }
  });
});
