import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  backupUnitText,
  PACKAGED,
  secondUnitText,
  type UnitOptions,
  unitText,
} from '../../../commands/service/unit.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { programAt } from '../../support/proxies.ts';

const folder = temporaryFolder();
afterAll(folder.remove);
const analyze = programAt('systemd-analyze');

test.each([
  ['vault.service', unitText(PACKAGED)],
  ['vault@.service', secondUnitText(PACKAGED)],
])('packaging/%s is what the function prints', (name, text) => {
  expect(readFileSync(join(import.meta.dir, '../../../packaging', name), 'utf8')).toBe(text);
});

/** Runs systemd-analyze on the unit, of a program that this machine has. */
function judge(words: readonly string[], { unit = 'vault', ...options }: Kind): { code: number; text: string } {
  const path = join(folder.path, `${unit}.service`);
  writeFileSync(path, UNITS[unit]({ ...PACKAGED, program: '/bin/true', user: 'root', ...options }));
  const { exitCode, stdout, stderr } = Bun.spawnSync([analyze as string, ...words, path], { env: {} });
  return { code: exitCode, text: `${stdout}${stderr}` };
}

const UNITS = {
  vault: unitText,
  'vault@8788': secondUnitText,
  'vault-backup': (options: UnitOptions) => backupUnitText(options, '/mnt/backups', '6h'),
};

type Kind = Partial<UnitOptions> & { readonly unit?: keyof typeof UNITS };

const KINDS: readonly [string, Kind][] = [
  ['of the package', {}],
  ['of the second vault', { unit: 'vault@8788' }],
  ['of backups', { unit: 'vault-backup' }],
  ['with data elsewhere', { dataDir: '/srv/vault' }],
  ['with a port below 1024', { isPortPrivileged: true }],
];

if (analyze) {
  describe.each(KINDS)('the unit %s, to systemd-analyze,', (_, options) => {
    test('has no fault', () => {
      expect(judge(['verify'], options)).toEqual({ code: 0, text: '' });
    });

    test('exposes 2.0 at most', () => {
      const user = { ...options, user: 'vault' };
      const { text } = judge(['security', '--offline=true', '--no-pager'], user);
      const [, exposure = 'not said'] = /exposure level for [\w@-]+.service: ([\d.]+)/.exec(text) ?? [];
      expect(Number(exposure)).toBeLessThanOrEqual(2);
    });
  });
} else console.log('no systemd-analyze on this machine: the unit is not judged');
