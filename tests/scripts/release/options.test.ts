import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TARGETS } from '../../../scripts/build/targets.ts';
import { readAsked } from '../../../scripts/release/options.ts';
import { packageOf } from '../../../scripts/release/runtimes.ts';
import { makeKeys } from '../../../scripts/release/sign.ts';
import { temporaryFolder } from '../../support/databases.ts';

const { publicKey, secretKey } = makeKeys();
let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeAll(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'release.key');
  writeFileSync(file, secretKey);
});
afterAll(() => folder.remove());

const read = (...words: string[]) => readAsked(words, TARGETS);

test('a release is of all targets, or of those that are named', () => {
  expect(read('--public-key', publicKey)).toMatchObject({ targets: TARGETS, publicKey, secretKey: undefined });
  expect(read(`--public-key=${publicKey}`, '--targets', 'linux-arm64,linux-x64').targets).toEqual([
    'bun-linux-x64',
    'bun-linux-arm64',
  ]);
});

test('the public key is that of the secret one', () => {
  expect(read('--secret-key', file)).toMatchObject({ publicKey });
  expect(() => read('--secret-key', file, '--public-key', makeKeys().publicKey)).toThrow('is not of --secret-key');
});

test.each([
  [['--targets', 'linux-x46', '--with-changes'], 'unknown target: linux-x46'],
  [['--public-key', 'RWnone'], 'is not a public key of minisign'],
  [['--public-key'], '--public-key needs a value'],
  [['--pubilc-key', 'a'], 'this is not understood: --pubilc-key'],
  [[], '--public-key is missing'],
])('%p is refused in words', (words, said) => {
  expect(() => read(...words)).toThrow(said);
});

test('a key with a password is refused with what to do, and a damaged one', () => {
  const bytes = Buffer.from(secretKey.split('\n')[1] ?? '', 'base64');
  const spoilt = (at: number, value: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = value;
    writeFileSync(join(folder.path, 'spoilt'), `untrusted comment: a key\n${copy.toString('base64')}\n`);
    return () => read('--secret-key', join(folder.path, 'spoilt'));
  };
  // Sc: scrypt.
  expect(spoilt(2, 0x53)).toThrow('sign SHA256SUMS by minisign -S');
  expect(spoilt(62, (bytes[62] ?? 0) ^ 1)).toThrow('this secret key is damaged');
});

test("bun.lock has the sum of Bun's executable for every target", async () => {
  const lock = await Bun.file(join(import.meta.dir, '../../../bun.lock')).text();
  for (const target of TARGETS) expect(lock).toMatch(new RegExp(`\\["${packageOf(target)}@[\\d.]+",.*"sha512-`));
});
