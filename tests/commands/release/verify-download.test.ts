import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeKeys, readSecretKey, signFile } from '../../../scripts/release/sign.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';

const NAME = 'vault-0.2.0-linux-x64';
const COMMENT = 'vault 0.2.0 of commit abc';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const at = (name: string) => join(folder.path, name);
const run = (...words: string[]) => runProgram(['version', ...words], { cwd: folder.path });

/** A release of one file, of another's name too, and who signed it. */
function release() {
  const keys = makeKeys();
  writeFileSync(at(NAME), 'a program');
  const sums = `${createHash('sha256').update('a program').digest('hex')}  ${NAME}\n${'0'.repeat(64)}  another\n`;
  writeFileSync(at('SHA256SUMS'), sums);
  writeFileSync(at('SHA256SUMS.minisig'), signFile(readSecretKey(keys.secretKey), Buffer.from(sums), COMMENT));
  return { ...keys, sums };
}

/** Turns one bit of a file. */
function flip(name: string, byte: number): void {
  writeFileSync(at(name), flipped(readFileSync(at(name)), byte));
}

function flipped(bytes: Buffer, byte: number): Buffer {
  bytes[byte] = (bytes[byte] ?? 0) ^ 1;
  return bytes;
}

test('a download of the release is right, by its name or under another', async () => {
  const { publicKey } = release();
  writeFileSync(at('release.pub'), `untrusted comment: a key\n${publicKey}\n`);
  expect(await run('--verify', NAME, '--public-key', publicKey)).toEqual({
    code: 0,
    out: `✓ ${NAME} is ${NAME} of the release (${COMMENT})\n`,
    err: '',
  });
  renameSync(at(NAME), at('vault'));
  const { code, out } = await run('--verify', 'vault', '--public-key', 'release.pub', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ ok: true, name: NAME, comment: COMMENT, problem: null });
});

test('a flipped bit is refused: of the download, of the sums, of the signature', async () => {
  const { publicKey, sums } = release();
  const refusal = async () => {
    const { code, out } = await run('--verify', NAME, '--public-key', publicKey);
    return [code, out];
  };
  flip(NAME, 3);
  expect(await refusal()).toEqual([1, expect.stringContaining('must not be used: its SHA-256 is')]);
  flip(NAME, 3);
  flip('SHA256SUMS', 5);
  expect(await refusal()).toEqual([1, expect.stringContaining('SHA256SUMS is not what the key')]);
  writeFileSync(at('SHA256SUMS'), sums);
  // In the second line, behind the algorithm and the key's name: the signature itself. It stays base64.
  const [untrusted, signature = '', ...trusted] = readFileSync(at('SHA256SUMS.minisig'), 'utf8').split('\n');
  const turned = flipped(Buffer.from(signature, 'base64'), 30).toString('base64');
  writeFileSync(at('SHA256SUMS.minisig'), [untrusted, turned, ...trusted].join('\n'));
  expect(await refusal()).toEqual([1, expect.stringContaining('SHA256SUMS is not what the key')]);
});

test('a signature of another key is refused, also one that has the name of the right key', async () => {
  const { publicKey, sums } = release();
  const other = readSecretKey(makeKeys().secretKey);
  const refusal = async (id: Buffer) => {
    writeFileSync(at('SHA256SUMS.minisig'), signFile({ ...other, id }, Buffer.from(sums), COMMENT));
    const { code, out } = await run('--verify', NAME, '--public-key', publicKey);
    return [code, out];
  };
  expect(await refusal(other.id)).toEqual([1, expect.stringContaining('the signature is of the key')]);
  expect(await refusal(Buffer.from(publicKey, 'base64').subarray(2, 10))).toEqual([
    1,
    expect.stringContaining('SHA256SUMS is not what the key'),
  ]);
});

test('a file that is not of the release is refused, and one whose parts are missing is a wrong call', async () => {
  const { publicKey } = release();
  writeFileSync(at('stranger'), 'another program');
  expect(await run('--verify', 'stranger', '--public-key', publicKey)).toMatchObject({
    code: 1,
    out: expect.stringContaining('lists neither its name nor its SHA-256'),
  });
  for (const [words, said] of [
    [['--verify', NAME], '--verify needs --public-key'],
    [['--verify', NAME, '--public-key', 'RWnonsense'], 'not a public key of minisign'],
    [['--verify', NAME, '--public-key', publicKey, '--sums', 'none'], 'none cannot be read'],
    [['--verify', 'none', '--public-key', publicKey], 'none cannot be read'],
    [['--public-key', publicKey], '--public-key belongs to --verify'],
  ] as const) {
    const { code, err } = await run(...words);
    expect([code, err]).toEqual([2, expect.stringContaining(said)]);
  }
});
