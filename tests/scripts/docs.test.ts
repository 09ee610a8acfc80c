import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import type { Route } from '../../routes/http/route.ts';
import { ROUTES } from '../../routes/index.ts';
import { settingsDocument, withLimits } from '../../scripts/docs.ts';
import { curlOf } from '../../scripts/openapi/examples.ts';
import { familyOf } from '../../scripts/openapi/families.ts';
import { withReference } from '../../scripts/openapi/reference.ts';
import { WIRE_FILE, wireTypes } from '../../scripts/openapi/wire.ts';

test('docs/settings.md is what `bun scripts/docs.ts` writes', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/settings.md')).text();
  expect(text).toBe(settingsDocument());
});

test('docs/settings.md names every setting once', () => {
  const named = Array.from(settingsDocument().matchAll(/^\| `([A-Z0-9_]+)`/gm), ([, name]) => name);
  expect(named).toEqual([...SETTING_NAMES]);
});

test("docs/operating.md's table of limits is what `bun scripts/docs.ts` writes", async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/operating.md')).text();
  expect(text).toBe(withLimits(text));
});

test('the operations of docs/http.md are what `bun scripts/docs.ts` writes', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/http.md')).text();
  expect(text).toBe(await withReference(text));
});

test('the types of the client are what `bun scripts/docs.ts` writes', async () => {
  expect(await Bun.file(join(import.meta.dir, '../..', WIRE_FILE)).text()).toBe(await wireTypes());
});

test('docs/http.md has an example of every operation but those of pages', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/http.md')).text();
  const all: readonly Route[] = ROUTES;
  const missing = all.filter((route) => {
    const isPage = familyOf(route) === 'Pages and files' || route.path.includes(':');
    return isPage ? !text.includes(route.path.replace(/:.*/, '')) : !text.includes(`\n${curlOf(route)}\n`);
  });
  expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});
