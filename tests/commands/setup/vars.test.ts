import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../commands/cli/arguments.ts';
import { readVars } from '../../../commands/setup/vars.ts';
import { temporaryFolder } from '../../support/databases.ts';

const folder = temporaryFolder();
afterAll(folder.remove);

let files = 0;
function file(text: string, mode = 0o600): string {
  const path = join(folder.path, `file-${files++}`);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('settings', () => {
  test('come from flags before the environment, from the environment before the file', () => {
    const path = file('PORT=1\nHOST=::1\nCHAIN_ID=8453\n');
    const { vars, sources } = readVars({ PORT: '3' }, { PORT: '2', HOST: '127.0.0.2' }, path);
    expect(vars).toEqual({ PORT: '3', HOST: '127.0.0.2', CHAIN_ID: '8453' });
    expect(sources).toEqual({ PORT: 'flag --port', HOST: 'environment', CHAIN_ID: `file ${path}` });
  });

  test('that are empty count as unset', () => {
    expect(readVars({}, { PORT: ' ' }, file('PORT=1')).vars).toEqual({ PORT: '1' });
  });

  test('that the environment holds for others are left alone', () => {
    expect(readVars({}, { PATH: '/bin', VAULT: 'x' }).vars).toEqual({});
  });

  test('may be kept in a file of their own where they are secret', () => {
    const path = file('  a-secret \n');
    const { vars, sources, warnings } = readVars({}, { VAULT_SECRET_FILE: path });
    expect([vars, sources, warnings]).toEqual([
      { VAULT_SECRET: 'a-secret' },
      { VAULT_SECRET: `VAULT_SECRET_FILE ${path}` },
      [],
    ]);
    expect(readVars({}, { RPC_URL_FILE: path }).vars).toEqual({ RPC_URL: 'a-secret' });
    expect(readVars({}, { PORT_FILE: path }).vars).toEqual({});
  });

  test('a file of a secret that others can read is told of', () => {
    const path = file('a-secret', 0o640);
    expect(readVars({}, { VAULT_SECRET_FILE: path }).warnings).toEqual([
      `${path} can be read by other users: chmod 600 ${path}`,
    ]);
  });

  test('a higher source wins over a file of the lower', () => {
    const path = file(`VAULT_SECRET_FILE=${file('low')}`);
    expect(readVars({}, { VAULT_SECRET: 'high' }, path).vars).toEqual({ VAULT_SECRET: 'high' });
    expect(readVars({}, {}, path).vars).toEqual({ VAULT_SECRET: 'low' });
  });

  test.each<[string, () => Record<string, string>, string]>([
    ['a secret given twice over', () => ({ VAULT_SECRET: 'x', VAULT_SECRET_FILE: file('y') }), 'are both set'],
    ['a missing file', () => ({ VAULT_SECRET_FILE: '/nowhere' }), '/nowhere cannot be read (ENOENT)'],
    ['an empty file', () => ({ VAULT_SECRET_FILE: file('\n') }), 'is empty'],
  ])('refuse %s', (_, environment, message) => {
    expect(() => readVars({}, environment())).toThrow(UsageError);
    expect(() => readVars({}, environment())).toThrow(message);
  });
});

describe('the file of --config', () => {
  test('holds lines of NAME=value with comments, quotes and CRLF', () => {
    const path = file(
      '# a comment\r\n\r\n export PORT = 1 \r\nEMAIL_FROM="Vault <a@example.com>"\r\nCHAIN_NAME=\'a "b"\'\r\nSMTP_URL=\r\n',
    );
    expect(readVars({}, {}, path).vars).toEqual({
      PORT: '1',
      EMAIL_FROM: 'Vault <a@example.com>',
      CHAIN_NAME: 'a "b"',
    });
  });

  test('has every fault of its own told, without values', () => {
    const path = file('PROT=hunter2\nhunter2\nPORT=1\nPORT=2\n__proto__=1\n');
    const message = (() => {
      try {
        return String(readVars({}, {}, path));
      } catch (error) {
        return error instanceof UsageError ? error.message : '';
      }
    })();
    expect(message.split('\n').map((line) => line.slice(path.length + 2))).toEqual([
      'line 2 is not NAME=value.',
      'line 1: PROT is not a setting: did you mean PORT?',
      'line 4: PORT is given twice.',
      'line 5: __proto__ is not a setting.',
    ]);
    expect(message).not.toContain('hunter2');
  });

  test.each([
    [
      '{\n  "PORT": 8787,\n  "BASE_URL": "x"\n}\n',
      ' is JSON: write a line NAME=value for each setting, such as PORT=8787.',
    ],
    ['PORT: 1\nHOST: x\n', ': lines 1, 2 are not NAME=value.'],
    ['a\n'.repeat(9), ': lines 1, 2, 3, 4, 5 and 4 more are not NAME=value.'],
  ])('of another format is one sentence: %p', (text, message) => {
    const path = file(text);
    expect(() => readVars({}, {}, path)).toThrow(new UsageError(`${path}${message}`));
  });

  test('is named when it is missing', () => {
    expect(() => readVars({}, {}, '/nowhere')).toThrow('--config: /nowhere cannot be read (ENOENT)');
  });
});
