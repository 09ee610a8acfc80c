import { HOUR_MS } from '../base/clock.ts';
import type { BackupState } from '../monitoring/last-backup.ts';
import { type DoctorCheck, type Finding, ok, skip, warn } from './finding.ts';
import type { Examined } from './host.ts';

/** The check of the newest backup; empty without a database. */
export function backupChecks({ clock, config, stored }: Examined): readonly DoctorCheck[] {
  if (!stored) return [];
  return [
    {
      name: 'backup',
      remedy: 'run the command where the database answers',
      run: async () => judgeBackup((await stored())?.backup, clock.now(), /^file:/i.test(config.databaseUrl)),
    },
  ];
}

function judgeBackup(state: BackupState | undefined, now: number, isFile: boolean): readonly Finding[] {
  if (!state) return [skip('backup', 'the database does not say when the last one was made')];
  const { last, isDue } = state;
  if (!last && !isDue) return [ok('backup', 'none yet, and nobody has registered')];
  const text = last
    ? `the last one was made ${Math.round((now - last.madeAt) / HOUR_MS)} h ago, to ${last.place}, ${(last.bytes / 1e6).toFixed(1)} MB`
    : 'none is known';
  if (!isDue) return [ok('backup', text)];
  return [
    warn(
      'backup',
      text,
      isFile ? MAKE_ONE : `${MAKE_ONE}. The vault does not know the backups that the server itself makes`,
    ),
  ];
}

const MAKE_ONE = 'vault backup --every 1h --to PLACE makes one each hour: docs/operating.md, Backup';
