import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSignedBy, keyName, parseMinisignKey, parseSignature } from '../../../commands/release/minisign.ts';
import { makeKeys, readSecretKey, signFile } from '../../../scripts/release/sign.ts';
import { temporaryFolder } from '../../support/databases.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const MINISIGN = Bun.which('minisign');

/** Reads a key that must be one. */
const keyOf = (text: string) => {
  const key = parseMinisignKey(text);
  if (!key) throw new Error('no key');
  return key;
};

const signed = () => {
  const { publicKey, secretKey } = makeKeys();
  const content = Buffer.from('two lines\nof text\n');
  const text = signFile(readSecretKey(secretKey), content, 'a comment of trust');
  return { publicKey, secretKey, content, text };
};

test('a signature holds for its file and comment, and for nothing else', () => {
  const { publicKey, content, text } = signed();
  const key = keyOf(publicKey);
  const signature = parseSignature(text);
  if (!signature) throw new Error('no signature');
  expect(isSignedBy(key, content, signature)).toBe(true);
  for (let at = 0; at < content.length; at++) {
    const flipped = Buffer.from(content);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    expect(isSignedBy(key, flipped, signature)).toBe(false);
  }
  expect(isSignedBy(key, content, { ...signature, comment: 'a comment of trusT' })).toBe(false);
  expect(isSignedBy(keyOf(makeKeys().publicKey), content, signature)).toBe(false);
  // Another key that calls itself by the same name.
  expect(isSignedBy({ ...keyOf(makeKeys().publicKey), id: key.id }, content, signature)).toBe(false);
});

test.each([
  ['an empty file', () => ''],
  ['a signature cut short', (text: string) => text.slice(0, 120)],
  ['one without its trusted comment', (text: string) => text.split('\n').slice(0, 2).join('\n')],
  ['one of the kind that is not prehashed', (text: string) => text.replace(/^RU/m, 'RW')],
  ['base64 that is not canonical', (text: string) => text.replace(/^(R.{20})./m, '$1!')],
])('%s is no signature', (_, spoil) => {
  expect(parseSignature(spoil(signed().text))).toBeUndefined();
});

test('a key is 56 characters that begin with RW, alone or in its file', () => {
  const { publicKey } = makeKeys();
  expect(publicKey).toMatch(/^RW[\w+/=]{54}$/);
  expect(keyOf(`untrusted comment: minisign public key\n${publicKey}\n`)).toEqual(keyOf(publicKey));
  for (const text of ['', 'RW', publicKey.slice(0, -1), `${publicKey}A`, publicKey.replace(/^RW/, 'RX')])
    expect(parseMinisignKey(text)).toBeUndefined();
});

test.each([
  ['efcdab8967452301', '123456789ABCDEF'],
  ['fb9b39d25f7d300e', 'E307D5FD2399BFB'],
  ['0123456789abcdef', 'EFCDAB8967452301'],
  ['0100000000000000', '1'],
])('the key with the bytes %s is called %s', (id, name) => {
  expect(keyName(Buffer.from(id, 'hex'))).toBe(name);
});

test.skipIf(!MINISIGN)('a key whose name begins with zeros is called what minisign calls it', () => {
  const [comment, line = ''] = makeKeys().secretKey.split('\n');
  const bytes = Buffer.from(line, 'base64');
  // The bytes of the name, the lowest first.
  bytes.writeBigUInt64LE(0x0000_0123_4567_89abn, 54);
  const [secret, its] = [join(folder.path, 'zeros.key'), join(folder.path, 'zeros.pub')];
  writeFileSync(secret, `${comment}\n${bytes.toString('base64')}\n`);
  expect(Bun.spawnSync([MINISIGN ?? '', '-R', '-s', secret, '-p', its], { stdin: 'ignore' }).exitCode).toBe(0);
  const text = readFileSync(its, 'utf8');
  expect(text.split('\n')[0]).toEndWith(` ${keyName(keyOf(text).id)}`);
});

test.skipIf(!MINISIGN)('minisign takes what we sign, and we what it signs', () => {
  const { publicKey, secretKey, content, text } = signed();
  const path = join(folder.path, 'file');
  writeFileSync(path, content);
  writeFileSync(`${path}.minisig`, text);
  const minisign = (...words: string[]) => Bun.spawnSync([MINISIGN ?? '', ...words], { stdin: 'ignore' });
  const verified = minisign('-V', '-P', publicKey, '-m', path);
  expect([verified.exitCode, verified.stdout.toString()]).toEqual([0, expect.stringContaining('a comment of trust')]);
  writeFileSync(join(folder.path, 'ours.key'), secretKey);
  minisign('-S', '-W', '-s', join(folder.path, 'ours.key'), '-m', path, '-x', join(folder.path, 'by-ours'));
  const keys = join(folder.path, 'theirs');
  mkdirSync(keys);
  const made = minisign('-G', '-W', '-p', join(keys, 'a.pub'), '-s', join(keys, 'a.key'));
  expect(made.exitCode).toBe(0);
  minisign('-S', '-s', join(keys, 'a.key'), '-m', path, '-t', 'theirs', '-x', join(keys, 'a.minisig'));
  const signature = parseSignature(readFileSync(join(keys, 'a.minisig'), 'utf8'));
  if (!signature) throw new Error('no signature');
  const key = keyOf(readFileSync(join(keys, 'a.pub'), 'utf8'));
  expect([isSignedBy(key, content, signature), signature.comment]).toEqual([true, 'theirs']);
  expect(readFileSync(join(keys, 'a.pub'), 'utf8')).toContain(keyName(key.id));
  // Their key signs by our hand, too.
  const again = signFile(readSecretKey(readFileSync(join(keys, 'a.key'), 'utf8')), content, 'again');
  writeFileSync(`${path}.minisig`, again);
  expect(minisign('-V', '-p', join(keys, 'a.pub'), '-m', path).exitCode).toBe(0);
});
