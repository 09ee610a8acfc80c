import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { bundleClientPart, CLIENT_PARTS } from '../../../assets/client-parts.ts';

/** As it travels, without what it loads on demand. */
const BYTES_MAX = 9_600;

test('the client is at most 9.6 KB gzipped, and imports nothing but its own files on demand', async () => {
  const bytes = new Uint8Array(await (await bundleClientPart('vault/index.ts', true)).arrayBuffer());
  expect(gzipSync(bytes, { level: 9 }).length).toBeLessThanOrEqual(BYTES_MAX);
  const imports = new Bun.Transpiler({ loader: 'js' }).scanImports(new TextDecoder().decode(bytes));
  const others = Object.values(CLIENT_PARTS).filter((path) => path !== 'client.js');
  expect(imports.map(({ path, kind }) => `${kind} ${path}`).sort()).toEqual(
    others.map((path) => `dynamic-import ./${path}`).sort(),
  );
});

test.each(Object.keys(CLIENT_PARTS).filter((part) => part !== 'vault/index.ts'))(
  '%s needs no other file',
  async (part) => {
    const text = await (await bundleClientPart(part, true)).text();
    expect(new Bun.Transpiler({ loader: 'js' }).scanImports(text)).toEqual([]);
  },
);
