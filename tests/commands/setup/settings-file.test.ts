import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsFile, shownSettingsFile } from '../../../commands/setup/settings-file.ts';
import { readVars } from '../../../commands/setup/vars.ts';
import { SETTING_NAMES } from '../../../lib/config/config.ts';
import { FIRST_SETTINGS } from '../../../lib/config/first-settings.ts';
import { temporaryFolder } from '../../support/databases.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

/** The settings that a vault reads in a file of this text, from a folder whose files of secrets hold `value`. */
function read(text: string) {
  const path = join(folder.path, 'vault.env');
  writeFileSync(path, text, { mode: 0o600 });
  return readVars({}, {}, path);
}

describe('the settings file', () => {
  test('sets nothing that was not given, and names each first setting once', () => {
    const text = settingsFile({ vars: { DATA_DIR: '/srv/vault' }, sources: {} });
    expect(read(text).vars).toEqual({ DATA_DIR: '/srv/vault' });
    const named = Array.from(text.matchAll(/^#?([A-Z0-9_]+?)(?:_FILE)?=/gm), ([, name = '']) => name);
    expect(named).toEqual([...FIRST_SETTINGS]);
    expect(text.split('\n').filter((line) => line.length > 120)).toEqual([]);
  });

  test('is read again as it was given, whatever its values are', () => {
    const vars = {
      BASE_URL: 'https://id.example',
      EMAIL_FROM: '"Tea" <a@id.example>',
      BRAND_NAME: "'Tea'",
      CHAIN_NAME: ' my # chain ',
      SMTP_URL: 'smtp://u:p%20=%23@mail.example:587',
      LOG_LEVEL: 'warn',
    };
    const given = read(settingsFile({ vars, sources: {} }));
    expect(given.vars).toEqual(vars);
    expect(given.warnings).toEqual([]);
  });

  test('leaves a secret in the file that it came from, and shows none', () => {
    const path = join(folder.path, 'smtp-url');
    writeFileSync(path, 'smtp://u:confidential@mail.example', { mode: 0o600 });
    const given = readVars({}, { SMTP_URL_FILE: path, REGISTRAR_PRIVATE_KEY: '1'.repeat(64) });
    const text = settingsFile(given);
    expect(text).toContain(`\nSMTP_URL_FILE=${path}\n`);
    expect(text).not.toContain('confidential');
    expect(read(text).vars).toEqual(given.vars);
    expect(shownSettingsFile(given)).toContain('\nREGISTRAR_PRIVATE_KEY=(secret)\n');
  });

  test('names the first settings in the order of their topics, all of which there are', () => {
    expect(FIRST_SETTINGS.filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
    expect(new Set(FIRST_SETTINGS).size).toBe(FIRST_SETTINGS.length);
  });
});
