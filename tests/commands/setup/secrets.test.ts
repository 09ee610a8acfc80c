import { expect, test } from 'bun:test';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepSecret, makeDataDirectory, readSecret } from '../../../commands/setup/secrets.ts';
import { temporaryFolder } from '../../support/databases.ts';

test('a kept secret is its owner’s alone, and nothing else is left behind', () => {
  const folder = temporaryFolder();
  const dir = join(folder.path, 'a/b');
  makeDataDirectory(dir);
  expect(keepSecret(join(dir, 'vault.secret'), 'first', [])).toBe('first');
  expect(readdirSync(dir)).toEqual(['vault.secret']);
  expect(statSync(join(dir, 'vault.secret')).mode & 0o777).toBe(0o600);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  folder.remove();
});

test('what is kept is never replaced', () => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'vault.secret');
  expect(readSecret(path, [])).toBeUndefined();
  keepSecret(path, 'first', []);
  expect(keepSecret(path, 'second', [])).toBe('first');
  expect(readFileSync(path, 'utf8')).toBe('first\n');
  expect(readdirSync(folder.path)).toEqual(['vault.secret']);
  folder.remove();
});

test('a secret that others can read is told of', () => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'vault.secret');
  writeFileSync(path, 'text\n');
  chmodSync(path, 0o644);
  const warnings: string[] = [];
  expect(readSecret(path, warnings)).toBe('text');
  expect(warnings).toEqual([`${path} can be read by other users: chmod 600 ${path}`]);
  folder.remove();
});
