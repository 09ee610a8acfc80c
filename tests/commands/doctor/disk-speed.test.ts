import { afterAll, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { measureSync } from '../../../commands/doctor/disk-speed.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';
import { until } from '../../support/until.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

test('finds a time, and leaves no file', async () => {
  const ms = await measureSync(join(folder.path, 'vault.db'));
  expect(ms === undefined || ms > 0).toBe(true);
  await until('its file is removed', () => readdirSync(folder.path).length === 0);
});

test('of a folder that takes no file fails', async () => {
  expect(await settled(measureSync(join(folder.path, 'nowhere', 'vault.db')))).toThrow('ENOENT');
});
