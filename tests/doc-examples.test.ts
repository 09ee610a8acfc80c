import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient as openDatabase } from '@libsql/client';
import { concat, encodeAbiParameters, keccak256, parseAbiParameters, toBytes, toHex, zeroHash } from 'viem';
import { type Enclave, loadEnclave } from '../client/enclave.ts';
import { createClient } from '../client/vault/index.ts';
import { operatorFiles } from '../commands/setup/operator-files.ts';
import { createBrands } from '../lib/brand/brands.ts';
import { readConfig } from '../lib/config/config.ts';
import { createWords } from '../lib/words/words.ts';
import { createVault } from '../routes/index.ts';
import { createPasskey } from '../scripts/dev-stack/passkey.ts';
import { testAssets } from './support/assets.ts';
import { type ClientWorld, on, startClientWorld } from './support/client-world.ts';
import { temporaryFolder } from './support/databases.ts';
import { outputUntil } from './support/output.ts';
import { runProgram } from './support/run.ts';
import { newSigner } from './support/ucan.ts';
import { until } from './support/until.ts';
import { startVault, type TestVault, VAULT_SECRET } from './support/vault.ts';

// Examples of the documents, as they stand, that have no test of their own; and which test runs each of the others.

const ROOT = join(import.meta.dir, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The blocks of a document, in order. */
const blocksOf = (file: string, languages = '\\w+') =>
  Array.from(
    read(file).matchAll(new RegExp(`^ *\`\`\`(${languages})\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm')),
    ([, language = '', text = '']) => ({ language, text }),
  );

/** The block of a document that holds a text. Throws if there is none. */
function block(file: string, language: string, holding: string): string {
  const found = blocksOf(file, language).find(({ text }) => text.includes(holding));
  if (!found) throw new Error(`${file} has no ${language} with ${holding}`);
  return found.text;
}

/** Runs JavaScript or TypeScript of a document: its imports are what is given; answers the named values. */
function run(code: string, given: object, names: readonly string[] = []): Promise<Record<string, unknown>> {
  const body = `${code.replace(/^import .*\n/gm, '')}\nreturn { ${names.join(', ')} };`;
  const plain = new Bun.Transpiler({ loader: 'ts' }).transformSync(`export const example = async () => {${body}};`);
  const made = new Function(...Object.keys(given), `${plain.replace('export ', '')}\nreturn example();`);
  return made(...Object.values(given)) as Promise<Record<string, unknown>>;
}

/** Runs a block for a shell, in a folder. */
function shell(code: string, { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> }) {
  const { stdout, stderr, exitCode } = Bun.spawnSync(['bash', '-c', code], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
  });
  return { out: stdout.toString(), err: stderr.toString(), code: exitCode };
}

const OPERATOR_SECRET = VAULT_SECRET.replace('00', 'ff');
const home = temporaryFolder();
afterAll(() => home.remove());

describe('README.md', () => {
  test('by hand: a code is sent, and checked', async () => {
    const t = await startVault();
    const [, sending = '', checking = ''] =
      /(curl .*)\n#.*\n(curl .*)\n/.exec(block('README.md', 'sh', 'api/verify/send')) ?? [];
    const here = (line: string) => line.replace('localhost:8787', `-s ${t.url}`);
    const asked = async (line: string) =>
      JSON.parse(await new Response(Bun.spawn(['sh', '-c', here(line)], { stdout: 'pipe' }).stdout).text());
    expect(await asked(sending)).toMatchObject({ ok: true });
    expect(await asked(checking.replace('……', t.codeFor('you@example.com')))).toMatchObject({ verified: true });
    await t.stop();
  });

  test('embed it', async () => {
    const vars = { VAULT_SECRET };
    const printed: Record<string, unknown>[] = [];
    let serve: ((request: Request, server: object) => Promise<Response>) | undefined;
    let working: unknown;
    const code = block('README.md', 'ts', 'createVault').replace(
      'file:vault.db',
      `file:${join(home.path, 'embedded.db')}`,
    );
    const { vault } = await run(
      code,
      {
        createClient: openDatabase,
        createVault,
        packageAssets: () => testAssets,
        console: { log: (entry: Record<string, unknown>) => printed.push(entry) },
        process: { env: vars },
        Bun: { serve: (options: { fetch: typeof serve }) => (serve = options.fetch) },
        setInterval: (work: () => unknown) => {
          working = work();
        },
      },
      ['vault'],
    );
    const ask = (path: string, init?: RequestInit) =>
      serve?.(new Request(`http://localhost:8787${path}`, init), { requestIP: () => ({ address: '127.0.0.1' }) });
    for (const path of ['/readyz', '/account', '/console', '/client.js', '/openapi.json'])
      expect([path, (await ask(path))?.status]).toEqual([path, 200]);
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ identifier: 'you@example.com', channel: 'email' });
    expect((await ask('/api/verify/send', { method: 'POST', headers, body }))?.status).toBe(200);
    const found = await until('the code is printed', () => printed.find(({ event }) => event === 'code'));
    expect(found).toMatchObject({ to: 'you@example.com', code: expect.stringMatching(/^\d{6}$/) });
    expect(await working).toBeUndefined();
    await (vault as { close(): Promise<void> }).close();
  });
});

describe('with a chain', () => {
  let world: ClientWorld;
  beforeAll(async () => {
    world = await startClientWorld();
  });
  afterAll(() => world.stop());

  test('README.md: ten lines in a page', async () => {
    const code = block('README.md', 'js', 'vault.register').replaceAll('https://vault.example.com', world.url);
    const email = 'ten@example.com';
    const prompt = () => world.t.codeFor(email);
    const { did, confirmed } = await on(world.device(), () =>
      run(code, { createClient, email, prompt }, ['did', 'confirmed']),
    );
    expect(await confirmed).toMatchObject({ did, proven: true });
  });

  test('docs/passkey-proof.md: a proof that the vault takes', async () => {
    const { t, url } = world;
    const who = { identifier: 'viem@example.com', channel: 'email' };
    await t.call('POST /api/verify/send', who);
    const { attestation } = (await t.call('POST /api/verify/check', { ...who, code: t.codeFor(who.identifier) })).body;
    const passkey = createPasskey();
    const [pubKeyX, pubKeyY] = [toHex(passkey.key.x), toHex(passkey.key.y)];
    const predicted = await t.call('GET /api/accounts/predict', { pubKeyX, pubKeyY });
    expect(predicted).toMatchObject({ status: 200 });
    const smartAccount = predicted.body.address;
    const did = `did:pkh:eip155:84532:${smartAccount}`;
    const rawId = crypto.getRandomValues(new Uint8Array(16)).buffer;
    const base64url = (part: string) => part;
    // The passkey answers base64url already.
    const get = ({ publicKey }: { publicKey: { challenge: Uint8Array } }) => ({
      response: passkey.assert(publicKey.challenge),
    });
    const given = {
      vault: url,
      attestation,
      did,
      smartAccount,
      credential: { rawId },
      base64url,
      navigator: { credentials: { get } },
    };
    const tools = { keccak256, encodeAbiParameters, parseAbiParameters, toHex, toBytes, concat, zeroHash };
    const { proof, proofExpiresAt } = await run(
      block('docs/passkey-proof.md', 'js', 'encodeAbiParameters'),
      { ...given, ...tools },
      ['proof', 'proofExpiresAt'],
    );
    const credentialId = Buffer.from(rawId).toString('base64url');
    const body = { ...who, did, smartAccount, credentialId, pubKeyX, pubKeyY, attestation, proof, proofExpiresAt };
    const { status, body: answer } = await t.call('POST /api/dids', body);
    expect([status, answer]).toEqual([expect.any(Number), expect.objectContaining({ ok: true })]);
  });
});

describe('the enclave', () => {
  let t: TestVault;
  let enclave: Enclave;
  beforeAll(async () => {
    t = await startVault();
    enclave = await loadEnclave(await Bun.file(join(ROOT, 'assets/enclave.wasm')).bytes());
  });
  afterAll(() => t.stop());

  test('docs/enclave.md: a key signs, is sealed and opened again', async () => {
    const code = block('docs/enclave.md', 'ts', "createKey('P-256')").replaceAll('https://vault.example.com', t.url);
    const isTrue = code.replace(/^enclave\.verify\((.*)\); \/\/ true$/m, 'const isVerified = enclave.verify($1);');
    const prfOutput = crypto.getRandomValues(new Uint8Array(32));
    const found = await run(isTrue, { loadEnclave, prfOutput }, ['isVerified', 'again', 'digest']);
    expect(found['isVerified']).toBe(true);
    const again = found['again'] as ReturnType<Enclave['openKey']>;
    expect(again.sign(found['digest'] as Uint8Array)).toHaveLength(64);
  });

  test('docs/enclave.md: an Ethereum key', async () => {
    const message = new TextEncoder().encode('hello');
    const names = ['address', 'signature', 'parity'];
    const found = await run(block('docs/enclave.md', 'ts', 'secp256k1'), { enclave, message }, names);
    expect(found).toEqual({
      address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      signature: expect.anything(),
      parity: expect.any(Number),
    });
  });

  test('docs/contracts.md: an account vouches for a text', async () => {
    const passkey = createPasskey();
    const bytes = (part: string) => Uint8Array.from(Buffer.from(part, 'base64url')).buffer;
    const get = ({ publicKey }: { publicKey: { challenge: Uint8Array } }) => {
      const { authenticatorData, clientDataJSON, signature } = passkey.assert(publicKey.challenge);
      return {
        response: {
          authenticatorData: bytes(authenticatorData),
          clientDataJSON: bytes(clientDataJSON),
          signature: bytes(signature),
        },
      };
    };
    const given = {
      enclave,
      address: `0x${'ab'.repeat(20)}`,
      rpId: 'localhost',
      factory: `0x${'cd'.repeat(20)}`,
      factoryData: '0x1234',
    };
    const { packed, signature, sent } = (await run(
      block('docs/contracts.md', 'ts', 'accountSignature'),
      { ...given, navigator: { credentials: { get } } },
      ['packed', 'signature', 'sent'],
    )) as Record<string, Uint8Array>;
    expect([packed, signature, sent].map((one) => one instanceof Uint8Array)).toEqual([true, true, true]);
    // ERC-6492 ends with its own bytes, so that nobody takes it for a plain signature.
    expect(Buffer.from(sent ?? []).toString('hex')).toEndWith('6492'.repeat(16));
  });
});

test('docs/events.md: the stream by curl', async () => {
  const t = await startVault({ MAX_VERIFY_SENDS_PER_IP: '1000' });
  const child = Bun.spawn(['bash', '-c', block('docs/events.md', 'sh', 'v1/console/events')], {
    env: { PATH: process.env['PATH'], VAULT: t.url, OPERATOR_SECRET },
    stdout: 'pipe',
    stderr: 'ignore',
  });
  // Only what happens once the stream is open comes.
  let people = 0;
  const living = setInterval(async () => {
    await t.call('POST /api/verify/send', { identifier: `ada${people++}@example.com`, channel: 'email' });
    await t.work();
  }, 200);
  expect(await outputUntil(child.stdout, 'event: code.sent')).toContain('data: {');
  clearInterval(living);
  t.vault.endStreams();
  await child.exited;
  await t.stop();
});

test('docs/tokens.md: a delegation, which the vault can read', async () => {
  const [delegate = '', inspect = ''] = blocksOf('docs/tokens.md', 'sh').map(({ text }) =>
    text.replace(/\s+#.*$/m, '').trim(),
  );
  const { did } = await newSigner('P-256');
  const program = (line: string) => runProgram(line.split(' ').slice(1), { cwd: home.path, vars: { VAULT_SECRET } });
  const made = await program(delegate.replace('did:key:zDnae…', did));
  expect([made.code, made.err]).toEqual([0, expect.any(String)]);
  const seen = await program(inspect.replace('C…', made.out.trim()));
  expect([seen.code, seen.out]).toEqual([0, expect.stringContaining(did)]);
});

describe('docs/brand.md', () => {
  const folder = join(home.path, 'brand');
  const vars = { VAULT_SECRET, BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: 'none', SMS_PROVIDER: 'none' };

  test('brands of apps', () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'brands.json'), block('docs/brand.md', 'json', 'Tea House'));
    writeFileSync(join(folder, 'tea.svg'), read('assets/icons/vault.svg'));
    const config = readConfig({
      ...vars,
      EMAIL_PROVIDER: 'none',
      APPS: 'tea,books',
      BRANDS: join(folder, 'brands.json'),
    });
    const brandOf = createBrands(config, operatorFiles);
    expect([brandOf('tea').name, brandOf('tea').logo?.type, brandOf('books').name]).toEqual([
      'Tea House',
      'image/svg+xml',
      'Bookshop',
    ]);
  });

  test('words of another language', async () => {
    const words = join(folder, 'words/pt-BR');
    mkdirSync(words, { recursive: true });
    writeFileSync(join(words, 'mail.json'), block('docs/brand.md', 'json', 'code.enter'));
    const config = readConfig({ ...vars, EMAIL_PROVIDER: 'none', WORDS_DIR: join(folder, 'words') });
    const catalogues = createWords(config, operatorFiles);
    const english = JSON.parse(read('lib/words/messages/en.json'));
    const { 'code.enter': text } = await catalogues.of('mail', 'pt-BR', async () => english);
    expect(text).toContain('Digite-o');
  });

  test('a key that signs mails', async () => {
    mkdirSync(folder, { recursive: true });
    const { out, code } = shell(block('docs/brand.md', 'sh', 'openssl'), { cwd: folder });
    expect([code, Buffer.from(out, 'base64').length > 250]).toEqual([0, true]);
    const mail = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'Tea <tea@example.com>', SMTP_URL: 'smtps://mail.example.com' };
    const signed = { DKIM_PRIVATE_KEY_FILE: 'dkim.pem' };
    const ended = await runProgram(['config'], { cwd: folder, vars: { ...vars, ...mail, ...signed } });
    expect([ended.code, ended.err]).toEqual([0, '']);
    expect(ended.out).toContain('example.com');
  });
});

/** Which tests run the examples of a document. */
const RUN_BY: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['tests/doc-examples.test.ts', 'tests/journeys/demo.test.ts'],
  'docs/admission.md': ['tests/commands/invites.test.ts', 'tests/lib/admission/refused-domains.test.ts'],
  'docs/approvals.md': [
    'tests/client/approvals.test.ts',
    'tests/journeys/approve.test.ts',
    'tests/assets/approve/transfer.test.ts',
  ],
  'docs/brand.md': ['tests/doc-examples.test.ts'],
  'docs/client.md': [
    'tests/client/vault/docs.test.ts',
    'tests/journeys/client.test.ts',
    'tests/journeys/pay-402.test.ts',
  ],
  'docs/contracts.md': ['tests/doc-examples.test.ts'],
  'docs/embedding.md': ['tests/runtimes/package.test.ts'],
  'docs/enclave.md': ['tests/doc-examples.test.ts'],
  'docs/events.md': ['tests/doc-examples.test.ts'],
  'docs/hooks.md': ['tests/journeys/webhooks.test.ts'],
  'docs/http.md': ['tests/examples.test.ts'],
  'docs/openid-apps.md': ['tests/journeys/documented-app.test.ts'],
  'docs/openid.md': ['tests/lib/clients/clients-file.test.ts', 'tests/routes/openid-clients.test.ts'],
  'docs/passkey-proof.md': ['tests/doc-examples.test.ts'],
  'docs/payments.md': [
    'tests/journeys/demo.test.ts',
    'tests/journeys/documented-shop.test.ts',
    'tests/routes/pay-verify.test.ts',
  ],
  'docs/proxies.md': ['tests/support/proxies.ts'],
  'docs/tokens.md': ['tests/doc-examples.test.ts'],
  'docs/tutorial.md': ['tests/support/tutorial.ts'],
  'docs/webhooks.md': ['tests/journeys/webhooks.test.ts'],
  'docs/x402.md': ['tests/journeys/x402.test.ts', 'tests/support/x402-page.ts'],
};

/** What is not run, and why. Commands, flags, scripts and sources in all of them are held against the program. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'CONTRIBUTING.md': 'the development loop itself',
  'docs/benchmarks.md': 'takes an hour',
  'docs/concepts.md': 'diagrams',
  'docs/console.md': 'the place of the secret',
  'docs/evidence.md': 'needs DIDs on a chain; tests/routes/resolution.test.ts asks the same of one',
  'docs/operating.md': 'a server’s files and users; Prometheus and Litestream run theirs in tests of their own',
  'docs/privacy.md': 'commands on a person’s data; tests/commands/person.test.ts runs each',
  'docs/recovery.md': 'a recovery takes three days; each of its calls has an example in docs/http.md',
  'docs/releases.md': 'needs a release; tests/commands/release runs the same commands',
  'docs/scaling.md': 'takes an hour',
};

test('every document with examples has a test that runs them, or a reason', () => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...readdirSync(join(ROOT, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];
  const having = documents.filter((file) => blocksOf(file).length > 0);
  expect(having.toSorted()).toEqual([...Object.keys(RUN_BY), ...Object.keys(NOT_RUN)].sort());
  const idle = Object.entries(RUN_BY).flatMap(([file, tests]) =>
    tests.filter((path) => !existsSync(join(ROOT, path)) || !read(path).includes(file.replace('docs/', ''))),
  );
  expect(idle).toEqual([]);
});
