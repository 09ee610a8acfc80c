import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeKeys, readSecretKey, signFile } from '../../scripts/release/sign.ts';
import { temporaryFolder } from '../support/databases.ts';
import { runToEnd } from '../support/output.ts';

const SCRIPT = join(import.meta.dir, '../../packaging/install.sh');
const NAME = `vault-0.2.0-linux-${process.arch}`;
/** If the script ran what it downloads, this would leave a mark. */
const PROGRAM = '#!/bin/sh\ntouch "$MARK"\n';
/** All that the script needs beside what verifies. */
const TOOLS = 'sh uname sha256sum sed grep cut wc tail head cat cmp mktemp mkdir cp mv rm chmod ldd printf sleep'.split(
  ' ',
);

let folder: ReturnType<typeof temporaryFolder>;
let server: ReturnType<typeof Bun.serve>;
let asked: string[];
let endless: string | undefined;
let given: number;
beforeEach(() => {
  endless = undefined;
  given = 0;
  folder = temporaryFolder();
  for (const name of ['release', 'tools', 'out']) mkdirSync(at(name));
  asked = [];
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const name = new URL(request.url).pathname.slice(1);
      asked.push(name);
      const file = at(join('release', name));
      if (name === endless) return new Response(zeros());
      return existsSync(file) ? new Response(Bun.file(file)) : new Response('', { status: 404 });
    },
  });
});
afterEach(async () => {
  await server.stop(true);
  folder.remove();
});

const at = (name: string) => join(folder.path, name);

/** An answer that says no length and has no end. */
function zeros(): ReadableStream {
  const chunk = new Uint8Array(64 * 1024);
  return new ReadableStream({
    async pull(to) {
      given += chunk.length;
      to.enqueue(chunk);
      await Bun.sleep(0);
    },
  });
}

/** A release of the one program, signed. */
function release({ name = NAME, program = PROGRAM } = {}) {
  const keys = makeKeys();
  writeFileSync(at(`release/${name}`), program);
  const sums = `${createHash('sha256').update(program).digest('hex')}  ${name}\n`;
  writeFileSync(at('release/SHA256SUMS'), sums);
  sign(keys.secretKey);
  return keys;
}

function sign(secretKey: string): void {
  const sums = readFileSync(at('release/SHA256SUMS'));
  writeFileSync(at('release/SHA256SUMS.minisig'), signFile(readSecretKey(secretKey), sums, 'vault 0.2.0'));
}

/** Runs the script where only these tools are. */
async function install(
  key: string,
  words: readonly string[] = [],
  verifiers: readonly string[] = ['minisign'],
  fetcher = 'curl',
) {
  for (const tool of [...TOOLS, fetcher, ...verifiers]) {
    const path = Bun.which(tool);
    if (path !== null && !existsSync(at(`tools/${tool}`))) symlinkSync(path, at(`tools/${tool}`));
  }
  const from = `http://127.0.0.1:${server.port}/`;
  const env = { PATH: at('tools'), MARK: at('mark'), TMPDIR: folder.path };
  return runToEnd(['sh', SCRIPT, '--from', from, '--key', key, '--dir', at('out'), ...words], { env });
}

const OPENSSL_3 = /^OpenSSL 3/.test(
  Bun.which('openssl') ? Bun.spawnSync(['openssl', 'version']).stdout.toString() : '',
);
const MINISIGN = Bun.which('minisign') !== null;
const VERIFIERS = [...(MINISIGN ? ['minisign'] : []), ...(OPENSSL_3 ? ['openssl'] : [])];

/** Nothing is installed, nothing ran, and nothing is left behind. */
function expectNothing(): void {
  expect(readdirSync(at('out'))).toEqual([]);
  expect(readdirSync(folder.path).sort()).toEqual(['out', 'release', 'tools']);
}

describe.each(VERIFIERS)('verified by %s', (verifier) => {
  test('a release of the key is installed, and what was downloaded does not run', async () => {
    const { publicKey } = release();
    const { code, out, err } = await install(publicKey, [], [verifier]);
    expect([code, err, out]).toEqual([0, '', expect.stringContaining(`checked by ${verifier}`)]);
    expect(readFileSync(at('out/vault'), 'utf8')).toBe(PROGRAM);
    expect(statSync(at('out/vault')).mode & 0o777).toBe(0o755);
    expect(readdirSync(at('out'))).toEqual(['vault']);
    expect(existsSync(at('mark'))).toBe(false);
  });

  test('a flipped bit is refused: of the sums before the program is asked for, of the program before it is there', async () => {
    const { publicKey, secretKey } = release();
    const sums = readFileSync(at('release/SHA256SUMS'));
    const flipped = Buffer.from(sums);
    flipped[0] = (flipped[0] ?? 0) ^ 1;
    writeFileSync(at('release/SHA256SUMS'), flipped);
    const first = await install(publicKey, [], [verifier]);
    expect([first.code, first.err]).toEqual([
      1,
      expect.stringContaining('the signature of SHA256SUMS is not of this key'),
    ]);
    expect(asked).toEqual(['SHA256SUMS', 'SHA256SUMS.minisig']);
    writeFileSync(at('release/SHA256SUMS'), sums);
    sign(secretKey);
    writeFileSync(at(`release/${NAME}`), PROGRAM.replace('touch', 'tough'));
    const second = await install(publicKey, [], [verifier]);
    expect([second.code, second.err]).toEqual([1, expect.stringContaining('is damaged: its SHA-256 is')]);
    expectNothing();
  });

  test('a signature of another key is refused, also one that has the name of the right key', async () => {
    const { publicKey } = release();
    const other = readSecretKey(makeKeys().secretKey);
    for (const id of [other.id, Buffer.from(publicKey, 'base64').subarray(2, 10)]) {
      const sums = readFileSync(at('release/SHA256SUMS'));
      writeFileSync(at('release/SHA256SUMS.minisig'), signFile({ ...other, id }, sums, 'vault 0.2.0'));
      const { code, err } = await install(publicKey, [], [verifier]);
      expect([code, err]).toEqual([1, expect.stringContaining('is not of this key')]);
    }
    expectNothing();
  });

  test('a trusted comment that was changed is refused', async () => {
    const { publicKey } = release();
    const text = readFileSync(at('release/SHA256SUMS.minisig'), 'utf8');
    writeFileSync(at('release/SHA256SUMS.minisig'), text.replace('vault 0.2.0', 'vault 0.3.0'));
    expect((await install(publicKey, [], [verifier])).code).toBe(1);
    expectNothing();
  });
});

test('without a means to verify nothing is even asked for', async () => {
  const { publicKey } = release();
  const { code, err } = await install(publicKey, [], []);
  expect([code, err]).toEqual([1, expect.stringContaining('nothing here can verify a signature')]);
  expect(err).toContain('apt-get install minisign');
  expect(asked).toEqual([]);
  expectNothing();
});

test.skipIf(VERIFIERS.length === 0)(
  'another version, a release without this machine, and an unwritable place',
  async () => {
    const { publicKey } = release();
    const other = await install(publicKey, ['--version', '0.3.0'], VERIFIERS);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining(`the release has ${NAME}, not version 0.3.0`)]);
    const last = await install(publicKey, ['--version', '0.2.0', '--dir', '/proc/none'], VERIFIERS);
    expect([last.code, last.err]).toEqual([1, expect.stringContaining('cannot be written to')]);
    const strange = release({ name: 'vault-0.2.0-plan9-x64' });
    const none = await install(strange.publicKey, [], VERIFIERS);
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('the release has no program for linux-')]);
    expectNothing();
  },
);

test.skipIf(VERIFIERS.length === 0 || !Bun.which('wget'))(
  'wget is as good as curl, and without both it says so',
  async () => {
    const { publicKey } = release();
    const neither = await install(publicKey, [], VERIFIERS, 'true');
    expect([neither.code, neither.err]).toEqual([1, expect.stringContaining('neither curl nor wget is here')]);
    expect((await install(publicKey, [], VERIFIERS, 'wget')).code).toBe(0);
    expect(readFileSync(at('out/vault'), 'utf8')).toBe(PROGRAM);
  },
);

test.skipIf(VERIFIERS.length === 0)('an upgrade replaces a program that runs, by a rename', async () => {
  const { publicKey } = release();
  writeFileSync(at('out/vault'), 'the old one');
  const before = statSync(at('out/vault')).ino;
  expect((await install(publicKey, [], VERIFIERS)).code).toBe(0);
  expect(statSync(at('out/vault')).ino).not.toBe(before);
  expect(readdirSync(at('out'))).toEqual(['vault']);
});

test.each([
  [['--from', 'http://downloads.example.com'], 'must begin with https://'],
  [['--key', 'RWshort'], 'it has 56 characters'],
  [['--dir'], '--dir needs a value'],
  [['--verison', '1'], 'unknown argument: --verison'],
])('%p is a wrong call', async (words, said) => {
  const { publicKey } = release();
  const { code, err } = await install(publicKey, words as string[]);
  expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  expect(asked).toEqual([]);
});

test.skipIf(!Bun.which('shellcheck'))('shellcheck finds nothing in the scripts', () => {
  const scripts = [SCRIPT, ...['postinst', 'prerm', 'postrm'].map((name) => join(SCRIPT, '../deb', name))];
  const { exitCode, stdout } = Bun.spawnSync(['shellcheck', '-s', 'sh', ...scripts]);
  expect([exitCode, stdout.toString()]).toEqual([0, '']);
});

describe.each(['curl', 'wget'].filter((name) => Bun.which(name) !== null))('a hostile server, by %s', (fetcher) => {
  test('an answer without an end fills no disk', async () => {
    const { publicKey } = release();
    endless = 'SHA256SUMS';
    const { code, err } = await install(publicKey, [], VERIFIERS.slice(0, 1), fetcher);
    expect([code, err]).toEqual([1, expect.stringContaining('SHA256SUMS is larger than it may be.')]);
    expect(given).toBeLessThan(32 * 1024 * 1024);
    expectNothing();
  });
});

test('a folder in the place of the program is not taken for it', async () => {
  const { publicKey } = release();
  mkdirSync(at('out/vault'));
  const { code, err } = await install(publicKey, [], VERIFIERS.slice(0, 1));
  expect([code, err]).toEqual([1, expect.stringContaining('out/vault is a folder')]);
  expect(readdirSync(at('out/vault'))).toEqual([]);
});

test('an older release than what is installed is refused, unless its version is asked for', async () => {
  const { publicKey } = release();
  const there = (version: string) => {
    rmSync(at('out/vault'), { force: true });
    writeFileSync(at('out/vault'), `#!/bin/sh\necho vault ${version}\n`, { mode: 0o755 });
  };
  there('0.10.0');
  const { code, err } = await install(publicKey, [], VERIFIERS.slice(0, 1));
  expect([code, err]).toEqual([1, expect.stringContaining('which is 0.10.0. To go back to it: --version 0.2.0')]);
  expect((await install(publicKey, ['--version', '0.2.0'], VERIFIERS.slice(0, 1))).code).toBe(0);
  for (const version of ['0.2.0', '0.1.9']) {
    there(version);
    expect((await install(publicKey, [], VERIFIERS.slice(0, 1))).code).toBe(0);
  }
});

test('a URL with a password, or one that looks like this machine, is refused', async () => {
  const { publicKey } = release();
  for (const url of ['https://ada:confidential@downloads.example', 'http://127.0.0.1:x@downloads.example/']) {
    const child = Bun.spawnSync(['sh', SCRIPT, '--from', url, '--key', publicKey]);
    expect([child.exitCode, child.stderr.toString()]).toEqual([
      2,
      expect.stringContaining('--from must be without user and password.'),
    ]);
    expect(child.stderr.toString()).not.toContain('confidential');
  }
});
