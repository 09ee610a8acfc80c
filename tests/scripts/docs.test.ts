import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { ERRORS } from '../../lib/base/error.ts';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import type { Route } from '../../routes/http/route.ts';
import { ROUTES } from '../../routes/index.ts';
import { packagedSettings, settingsDocument, withLimits, withPersonalTables } from '../../scripts/docs.ts';
import { withLibFolders } from '../../scripts/lib-folders.ts';
import { curlOf } from '../../scripts/openapi/examples.ts';
import { familyOf } from '../../scripts/openapi/families.ts';
import { withReference } from '../../scripts/openapi/reference.ts';
import { WIRE_FILE, wireTypes } from '../../scripts/openapi/wire.ts';
import { withTroubles } from '../../scripts/troubleshooting.ts';

test('docs/settings.md is what `bun scripts/docs.ts` writes', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/settings.md')).text();
  expect(text).toBe(settingsDocument());
});

test('packaging/vault.env is what `bun scripts/docs.ts` writes', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../packaging/vault.env')).text();
  expect(text).toBe(packagedSettings());
});

test('docs/settings.md names every setting once', () => {
  const named = Array.from(settingsDocument().matchAll(/^\| `([A-Z0-9_]+)`/gm), ([, name]) => name);
  expect(named).toEqual([...SETTING_NAMES]);
});

test("docs/operating.md's table of limits is what `bun scripts/docs.ts` writes", async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/operating.md')).text();
  expect(text).toBe(withLimits(text));
});

test("docs/architecture.md's table of lib/ is what `bun scripts/docs.ts` writes", async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/architecture.md')).text();
  expect(text).toBe(withLibFolders(text));
});

test('docs/privacy.md has every table of the schema as the program knows it', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/privacy.md')).text();
  expect(text).toBe(withPersonalTables(text));
});

test('docs/troubleshooting.md is what `bun scripts/docs.ts` writes, with an entry of each word', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/troubleshooting.md')).text();
  expect(text).toBe(withTroubles(text));
  const entries = Array.from(text.matchAll(/^### (\w+)\n\n\*\*(\d+)\*\*[^\n]+/gm), ([, word = '', status]) => [
    word,
    Number(status),
  ]);
  expect(Object.fromEntries(entries)).toEqual(
    Object.fromEntries(Object.entries(ERRORS).map(([word, { status }]) => [word, status])),
  );
  expect(entries).toHaveLength(Object.keys(ERRORS).length);
});

test('docs/troubleshooting.md names only settings that there are', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/troubleshooting.md')).text();
  const named = Array.from(text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g), ([, name = '']) => name);
  expect(named.length).toBeGreaterThan(20);
  const known: readonly string[] = SETTING_NAMES;
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
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
