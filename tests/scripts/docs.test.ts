import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import { settingsDocument, withLimits } from '../../scripts/docs.ts';

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
