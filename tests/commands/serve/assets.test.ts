import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAssets } from '../../../commands/serve/assets.ts';

const ROOT = join(import.meta.dir, '../../..');
const ask = (assets: ReturnType<typeof openAssets>, path: string) =>
  assets.fetch(new Request(`https://assets.invalid${path}`));

test.each(['development', 'production'])(
  'the sources serve their files where NODE_ENV says %s',
  async (environment) => {
    const before = process.env['NODE_ENV'];
    process.env['NODE_ENV'] = environment;
    try {
      const response = await ask(openAssets(), '/enclave.wasm');
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(readFileSync(join(ROOT, 'assets/enclave.wasm')))).toBe(
        true,
      );
    } finally {
      process.env['NODE_ENV'] = before ?? 'test';
    }
  },
);

test('what is no served file is not there: sources, folders, names of objects', async () => {
  const assets = openAssets();
  for (const path of [
    '/enclave/index.ts',
    '/enclave',
    '/',
    '/console/main.ts',
    '/__proto__',
    '/toString',
    '/../package.json',
  ])
    expect([path, (await ask(assets, path)).status]).toEqual([path, 404]);
});
