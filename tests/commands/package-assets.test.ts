import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageAssets } from '../../commands/package-assets.ts';
import { temporaryFolder } from '../support/databases.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const own = join(folder.path, 'assets');
mkdirSync(join(own, 'authorize'), { recursive: true });
writeFileSync(join(own, 'openapi.json'), '{}');
writeFileSync(join(own, 'authorize/index.html'), '<!doctype html>');
writeFileSync(join(folder.path, 'secret'), 'secret');

const assets = packageAssets(pathToFileURL(`${own}/`));
const ask = async (path: string) => {
  const response = await assets.fetch(new Request(`https://assets.invalid${path}`));
  return [response.status, await response.text()];
};

test('a file is served by its path, and what is none is 404', async () => {
  expect(await ask('/openapi.json')).toEqual([200, '{}']);
  expect(await ask('/authorize/index.html')).toEqual([200, '<!doctype html>']);
  for (const path of ['/nothing', '/register', '/openapi.json/x', '/', '/a%2fb', '/%00'])
    expect(await ask(path)).toEqual([404, '']);
});

test.each(['/../secret', '/%2e%2e/secret', '/register/../../secret', '/..\\secret'])(
  'nothing beside the folder is read: %s',
  async (path) => {
    expect(await ask(path)).toEqual([404, '']);
  },
);

test('a folder without the files, as a bundle has it, is refused at once', () => {
  const nothing = pathToFileURL(`${folder.path}/nothing/`);
  expect(() => packageAssets(nothing)).toThrow(`packageAssets: no files of the vault in ${nothing}. Leave vault/node`);
});
