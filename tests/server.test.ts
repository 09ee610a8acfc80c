import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleAssets } from '../assets/bundle.ts';
import { VERSION } from '../lib/base/version.ts';
import { MIGRATIONS } from '../lib/db/schema.ts';
import { OWN_BYTES_MAX } from '../scripts/build/targets.ts';
import { buildBinary } from './support/binary.ts';
import { temporaryFolder } from './support/databases.ts';
import { startProgram } from './support/program.ts';
import { runProgram } from './support/run.ts';

let binary: Awaited<ReturnType<typeof buildBinary>>;
let folder: ReturnType<typeof temporaryFolder>;
beforeAll(async () => {
  binary = await buildBinary();
});
afterAll(() => binary.remove());
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const run = (...args: string[]) => runProgram(args, { cwd: folder.path, binary: binary.path });

/** Where a file is served under another path than its own. */
const PATHS: Readonly<Record<string, string>> = {
  '/console/index.html': '/console',
  '/account/index.html': '/account',
  '/approve/index.html': '/approve',
  '/landing/index.html': '/',
  '/pay/index.html': '/pay',
  '/pay/confirm.html': '/pay/confirm',
  '/pass/index.html': '/pass',
  '/pass/ready.html': '/pass/ready',
  '/pass/ended.html': '/pass/ended',
};

async function bytesOf(content: Blob): Promise<Uint8Array> {
  return new Uint8Array(await content.arrayBuffer());
}

const OWNER = `0x${'a'.repeat(40)}`;

describe('the one file', () => {
  test('is at most 12.1 MB larger than Bun', () => {
    expect(statSync(binary.path).size - statSync(process.execPath).size).toBeLessThanOrEqual(OWN_BYTES_MAX);
  });

  test('starts in an empty directory with an empty environment and ends by SIGTERM', async () => {
    const program = await startProgram({}, { cwd: folder.path, binary: binary.path });
    expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${program.url}/api/status`)).json()).toMatchObject({
      database: 'connected',
      version: VERSION,
    });
    expect(await program.stop()).toBe(0);
    expect(readdirSync(join(folder.path, 'vault-data')).sort()).toEqual([
      'operator.secret',
      'vault.db',
      'vault.secret',
    ]);
  });

  test('serves its files from within itself, the same as the sources make', async () => {
    const program = await startProgram({}, { cwd: folder.path, binary: binary.path });
    for (const [path, content] of Object.entries(await bundleAssets())) {
      // Parts of what `/words/<page>.json` answers, and a page that is there with CLIENTS alone.
      if (path.startsWith('/words/') || path === '/authorize/index.html') continue;
      const url = PATHS[path] ?? path;
      // A page at a path that programs ask, too.
      const response = await fetch(program.url + url, { headers: { Accept: 'text/html' } });
      const isSame = Buffer.from(await response.arrayBuffer()).equals(await bytesOf(content));
      // The page of a path that there is not.
      expect([url, response.status, isSame]).toEqual([url, path === '/landing/missing.html' ? 404 : 200, true]);
    }
    expect(await program.stop()).toBe(0);
  });

  test('has the words of its pages and mails in it, in every language', async () => {
    const program = await startProgram({}, { cwd: folder.path, binary: binary.path });
    for (const [lang, title] of [
      ['de', 'Ihr Konto'],
      ['fr', 'Votre compte'],
      ['es', 'Su cuenta'],
    ]) {
      const answer = await fetch(`${program.url}/words/account.json?lang=${lang}`);
      expect(((await answer.json()) as { words: Record<string, string> }).words['page']).toBe(title as string);
    }
    expect(await program.stop()).toBe(0);
  });

  test('does not start with a brand that cannot be used', async () => {
    const { code, err } = await run('serve', '--port', '0', '--brand-logo', 'none.svg');
    expect([code, err]).toEqual([2, expect.stringContaining('BRAND_LOGO is a file that does not exist')]);
  });

  test('takes neither settings nor code from the directory it is started in', async () => {
    const trap = join(folder.path, 'trap.ts');
    writeFileSync(trap, 'console.log("TRAPPED"); process.exit(7);');
    writeFileSync(join(folder.path, 'bunfig.toml'), 'preload = ["./trap.ts"]\n[serve]\nport = 1\n');
    for (const name of ['.env', '.env.local', '.env.production', 'vault.env']) {
      writeFileSync(join(folder.path, name), 'CHAIN_NAME=TRAPPED\n');
    }
    writeFileSync(join(folder.path, 'package.json'), '{"main":"./trap.ts"}');
    const { code, out } = await run('config');
    expect(code).toBe(0);
    expect(out).not.toContain('TRAPPED');
  });

  test('says its help and its release', async () => {
    expect(await run('--version')).toEqual({ code: 0, out: `vault ${VERSION}\n`, err: '' });
    expect((await run('version')).out).toMatch(
      /^vault [\d.]+\ncommit {2}.+\n(?:date {4}.+\n)?target {2}\w+-\w+\nBun {5}/,
    );
    for (const [args, shown] of [
      [['--help'], 'vault help settings'],
      [['help'], 'Commands'],
      [['serve', '--help'], '--base-url'],
      [['help', 'settings'], 'VAULT_SECRET'],
    ] as const) {
      const { code, out } = await run(...args);
      expect([code, out]).toEqual([0, expect.stringContaining(shown)]);
    }
    expect((await run('version', '--help')).out).not.toContain('--base-url');
    const { out } = await run('contracts', 'deploy', '--help');
    expect(out).toStartWith('vault contracts deploy: ');
    expect(out).toContain('--dry-run');
    expect(out).toContain('DEPLOYER_PRIVATE_KEY');
  });

  test('makes the tables at a first start, and finds them at the next', async () => {
    const program = await startProgram({}, { cwd: folder.path, binary: binary.path });
    expect(program.output()).toContain(`"migrationsApplied":${MIGRATIONS.length},`);
    expect(await program.stop()).toBe(0);
    const later = await startProgram({}, { cwd: folder.path, binary: binary.path });
    expect(later.output()).toContain('"migrationsApplied":0,');
    expect(await later.stop()).toBe(0);
  });

  test('refuses a flag it does not know, with 2', async () => {
    expect(await run('--versoin')).toMatchObject({ code: 2, out: '' });
  });

  test('reaches what it loads only on demand: SMTP, the libSQL client and the contracts', async () => {
    const smtp = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'a@example.com', SMTP_URL: 'smtp://127.0.0.1:1' };
    const program = await startProgram(smtp, { cwd: folder.path, binary: binary.path });
    expect(await program.stop()).toBe(0);
    const remote = {
      DATABASE_URL: 'http://127.0.0.1:1',
      VAULT_SECRET: '0123456789abcdef'.repeat(4),
      OPERATOR_SECRET: 'fedcba9876543210'.repeat(4),
    };
    const without = await startProgram(remote, { cwd: folder.path, binary: binary.path });
    expect(await without.stop()).toBe(0);
    expect(without.output()).toContain('"event":"started_without_database"');
    const deployment = await run(
      'contracts',
      'deploy',
      '--rpc-url',
      'http://127.0.0.1:1',
      '--dry-run',
      '--owner',
      OWNER,
    );
    expect(deployment).toEqual({ code: 1, out: '', err: expect.stringContaining('RPC_URL: unreachable') });
  });

  test('knows the numbering plans, which it reads at the first phone number', async () => {
    const program = await startProgram({}, { cwd: folder.path, binary: binary.path });
    const send = (identifier: string) =>
      fetch(`${program.url}/api/verify/send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ identifier, channel: 'sms' }),
      });
    expect((await send('+49 (0)151 23456789')).status).toBe(200);
    expect((await send('+49 1')).status).toBe(400);
    expect(await program.stop()).toBe(0);
    expect(program.output()).toContain('+4915123456789');
  });

  test("has the operator's commands in it", async () => {
    expect((await run('migrate')).code).toBe(0);
    expect((await run('backup', 'a.backup')).code).toBe(0);
    expect((await run('restore', 'a.backup', '--data-dir', 'other')).code).toBe(0);
    expect((await run('keys', 'rotate')).code).toBe(0);
    expect((await run('limits', 'show')).out).toBe('No limit is in use.\n');
    expect(await run('export')).toMatchObject({ code: 0, out: '', err: 'vault: 0 registrations\n' });
    expect((await run('completions', 'bash')).out).toContain('complete -F _vault vault');
    const { code, out } = await run('doctor', '--rpc-url', 'http://127.0.0.1:1');
    expect([code, out]).toEqual([1, expect.stringContaining('✓ database')]);
  });
});
