import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AbiFunction, Hex } from 'ox';
import type { Page } from 'puppeteer-core';
import { approvalAnswer, approvalDigest } from '../../client/approval-answer.ts';
import { secondsOf } from '../../client/approval-terms.ts';
import type { ApprovalAnswer } from '../../client/approvals.ts';
import { createClient, type HeldCredential } from '../../client/vault/index.ts';
import { rawSignature } from '../../client/wallet/der.ts';
import { factoryDataOf } from '../../client/wallet/operation.ts';
import { didRegistryAbi } from '../../contracts/abi.ts';
import { didHash } from '../../lib/identity/did.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { toolPath } from '../../scripts/testing/tools.ts';
import { type AppWorld, signUp, startAppWorld } from '../support/client-app.ts';
import { testClock } from '../support/clock.ts';
import { createHolder } from '../support/credentials.ts';
import { createPasskey } from '../support/passkey.ts';
import { confirmWindow, type Passkeys, part, press } from '../support/pay.ts';
import { sendAs } from '../support/registries.ts';
import { originOf } from '../support/touch.ts';
import { until } from '../support/until.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const ROOT = join(import.meta.dir, '../..');
const APP = join(ROOT, 'examples/apps/proof.mjs');
const ROOM = { MAX_VERIFY_SENDS_PER_IP: '100', RATE_LIMIT_CODES_PER_IDENTIFIER: '100' };

/** The example as it is, for a vault, on an origin of its own. */
async function startClub(vault: string) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(null, { status: 503 }) });
  const home = `http://localhost:${server.port}`;
  const text = (await Bun.file(APP).text())
    .replaceAll('https://vault.example.com', vault)
    .replaceAll('https://club.example', home)
    .replace("'vault/approvals'", JSON.stringify(join(ROOT, 'client/approvals.ts')));
  // Beside the packages that the example imports.
  const folder = mkdtempSync(toolPath('.proof-'));
  writeFileSync(join(folder, 'proof.mjs'), text);
  const { default: app } = (await import(join(folder, 'proof.mjs'))) as {
    default: { fetch(request: Request): Promise<Response> };
  };
  rmSync(folder, { recursive: true });
  server.reload({ fetch: (request) => app.fetch(request) });
  return { server, home };
}

let server: Awaited<ReturnType<typeof startClub>>['server'];
let club = '';
let t: TestVault;
let ada: HeldCredential;
beforeAll(async () => {
  // The app and the client judge by the time of this machine.
  t = await startVault(ROOM, { clock: testClock(Date.now()) });
  ({ server, home: club } = await startClub(originOf(t)));
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

async function ask(path: string, body: object = {}, at = club) {
  const answer = await fetch(at + path, { method: 'POST', body: JSON.stringify(body) });
  return (await answer.json()) as { nonce: string; says: string; question: Asked };
}

/** What the club has a person sign. */
interface Asked {
  readonly id: string;
  readonly text: string;
  readonly expires: string;
}

const show = async (nonce: string, presentation: string) => (await ask('/shown', { nonce, presentation })).says;

/** A good showing for a new nonce. */
async function showing(audience = club, held = ada, at = club) {
  const { nonce } = await ask('/nonces', {}, at);
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
  test('sees where somebody works, and learns no address', async () => {
    const { nonce, presentation } = await showing();
    const shown = presentation.split('~').slice(1, -1);
    expect(shown.map((one) => Buffer.from(one, 'base64url').toString())).toEqual([
      expect.stringContaining('"email_domain","example.com"'),
    ]);
    expect(await show(nonce, presentation)).toBe('You work at example.com');
  });

  test('refuses a showing that comes again, by its old nonce and by a new one', async () => {
    const { nonce, presentation } = await showing();
    expect(await show(nonce, presentation)).toBe('You work at example.com');
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

  test('refuses an answer to no question, to one of its nonces, and no answer', async () => {
    const { nonce } = await ask('/nonces');
    expect((await ask('/signed', { id: 'made-up' })).says).toBe('Refused: question');
    expect((await ask('/signed', { id: nonce })).says).toStartWith('Refused: ');
    for (const body of ['', 'null', '[]']) {
      const answer = await fetch(`${club}/signed`, { method: 'POST', body });
      expect(await answer.json()).toEqual({ says: expect.stringMatching(/^Refused: /) });
    }
  });
});

describe.skipIf(!chromium)('a person at examples/apps/proof.mjs, in Chromium', () => {
  let world: AppWorld;
  let there: Awaited<ReturnType<typeof startClub>>;
  let person: { readonly page: Page; readonly passkeys: Passkeys; readonly did: string };
  /** An answer that the page sent. */
  let answered: ApprovalAnswer;
  beforeAll(async () => {
    world = await startAppWorld(
      { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey, ...ROOM },
      { pagesOnly: true, relayOnly: true },
    );
    there = await startClub(world.origin);
    world.put('/plain', await Bun.file(join(ROOT, 'examples/apps/plain.html')).text());
    const { page, passkeys } = await world.open('/plain');
    person = { page, passkeys, did: await signUp(world, page, 'eve@example.com') };
  });
  afterAll(async () => {
    await world.closePages();
    await there.server.stop(true);
    await world.stop();
  });

  /** A question of the club's, for somebody who has shown where they work. */
  async function questioned() {
    const vault = createClient({ url: world.origin, storage: null });
    const email = `other${crypto.randomUUID()}@example.com`;
    const held = await vault.credential({ email, askCode: () => world.t.codeFor(email) });
    return (await ask('/shown', await showing(there.home, held, there.home), there.home)).question;
  }
  const signed = async (answer: object) => (await ask('/signed', answer, there.home)).says;
  /** An answer in the name of an account, by a key that says it is its own, as made on the vault's page. */
  function answerBy(passkey: ReturnType<typeof createPasskey>, account: string, { id, text, expires }: Asked) {
    const key = { x: Hex.fromBytes(passkey.key.x), y: Hex.fromBytes(passkey.key.y) };
    const terms = { vault: world.origin, app: there.home, id, text, expires: secondsOf(expires) ?? 0 };
    const creation = {
      factory: world.contracts.accountFactory2 ?? '0x',
      factoryData: factoryDataOf(key.x, key.y),
    };
    const about = { kind: 2, address: account as `0x${string}`, chainId: 84532, index: 0, credentialId: '' } as const;
    const approver = { ...about, creation, key };
    const made = passkey.assert(approvalDigest(terms, approver), { origin: world.origin });
    const bytes = (part: string) => new Uint8Array(Buffer.from(part, 'base64url'));
    return approvalAnswer(terms, approver, {
      authenticatorData: bytes(made.authenticatorData),
      clientDataJSON: bytes(made.clientDataJSON),
      signature: rawSignature(bytes(made.signature)),
    });
  }

  test('goes through the vault and back, and comes in by where they work and by their DID', async () => {
    const page = await person.page.browserContext().newPage();
    await person.passkeys.attach(page);
    page.on('request', (sent) => {
      if (sent.url().endsWith('/signed')) answered = JSON.parse(sent.postData() ?? '');
    });
    const email = 'eve.at.work@example.com';
    page.on('dialog', (dialog) => {
      void dialog.accept(dialog.message() === 'Your email' ? email : world.t.codeFor(email));
    });
    await page.goto(there.home);
    expect(new URL(page.url()).origin).not.toBe(world.origin);
    await page.waitForFunction('document.querySelector("#enter").onclick');
    await page.click('#enter');
    await page.waitForSelector('#sign:not([hidden])');
    await page.click('#sign');
    const confirm = await confirmWindow(world, person.passkeys);
    await part(confirm, 'setup');
    await press(confirm, 'find');
    expect(await part(confirm, 'review')).toContain('Come in as somebody of example.com.');
    await press(confirm, 'approve');
    const says = `You work at example.com Welcome from example.com, ${person.did} `;
    await page.waitForFunction((text) => document.querySelector('#says')?.textContent === text, {}, says);
  });

  test('refuses the same answer again, and one to another question', async () => {
    expect(await signed(answered)).toBe('Refused: question');
    const { id } = await questioned();
    expect(await signed({ ...answered, id })).toBe('Refused: other_terms');
  });

  test('refuses a stranger who signs as this DID by a key of their own: its document does not show it', async () => {
    const answer = answerBy(createPasskey(), person.did.slice(-42), await questioned());
    expect(await signed(answer)).toBe('Refused: DID');
  });

  test('refuses a DID that was ended', async () => {
    const { body } = await world.t.call('GET /api/contracts');
    const [credentialId = ''] = person.passkeys.ids();
    const look = () => world.t.call('GET /api/dids/lookup', { credentialId });
    await until('it is confirmed', async () => (await look()).body.status === 'confirmed');
    const account = person.did.slice(-42) as Hex.Hex;
    const deactivate = AbiFunction.fromAbi(didRegistryAbi, 'deactivate');
    const data = AbiFunction.encodeData(deactivate, [didHash(person.did)] as never);
    await sendAs(world.chain.rpc, account, body.didRegistry, data);
    const resolved = await world.t.call(`GET /1.0/identifiers/${person.did}`);
    expect(resolved.status).toBe(410);
    const answer = answerBy(createPasskey(), account, await questioned());
    expect(await signed(answer)).toBe('Refused: DID');
  });
});
