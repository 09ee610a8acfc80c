import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DAY_MS, systemClock } from '../../lib/base/clock.ts';
import type { Config } from '../../lib/config/config.ts';
import { type DoctorCheck, type Finding, fail, ok, warn } from '../../lib/doctor/finding.ts';
import type { Examined } from '../../lib/doctor/host.ts';
import { isEmbedded } from '../setup/settings.ts';
import { filePath } from '../storage/database.ts';
import { measureSync } from './disk-speed.ts';

/** From when on the disk is a finding. */
const DISK_FREE_BYTES_MIN = 64 * 1024 * 1024;
const DISK_TIGHT_BYTES = 1024 * 1024 * 1024;
const DISK_DAYS_MIN = 30;
const DISK_SYNC_MS_MAX = 50;

/** A younger database says nothing of how fast it grows. */
const GROWTH_DAYS_MIN = 7;

/** Checks of the disk of an embedded database. */
export function diskChecks(config: Config, stored?: Examined['stored']): readonly DoctorCheck[] {
  if (!isEmbedded(config.databaseUrl)) return [];
  const path = resolve(filePath(config.databaseUrl));
  if (!existsSync(dirname(path))) return [];
  const remedy = `allow the vault to write to ${dirname(path)}`;
  const run = async () => {
    const { bavail, bsize, type } = statfsSync(dirname(path));
    const facts = await stored?.().catch(() => undefined);
    const size = existsSync(path) ? statSync(path).size : 0;
    const ageDays = facts?.createdAt === undefined ? 0 : (systemClock.now() - facts.createdAt) / DAY_MS;
    return [
      judgeRoom(bavail * bsize, size, ageDays),
      ...judgeFileSystem(Number(type)),
      checkSync(await measureSync(path)),
    ];
  };
  return [{ name: 'disk', remedy, run }];
}

/** Free space, and how long it lasts if the database goes on to grow as it did since it was made. */
export function judgeRoom(free: number, size: number, ageDays: number): Finding {
  const days = ageDays < GROWTH_DAYS_MIN || size === 0 ? undefined : Math.floor(free / (size / ageDays));
  const lasts = days === undefined || days > DAYS_SHOWN_MAX ? '' : `: full in ${days} days at the growth until now`;
  const room = `${megabytes(free)} MB free${lasts}`;
  if (free < DISK_FREE_BYTES_MIN) return fail('disk', room, 'free some space: a full disk refuses every write');
  if (free < DISK_TIGHT_BYTES || free < 2 * size)
    return warn('disk', room, 'free some space: a backup needs as much as the database');
  if (days !== undefined && days < DISK_DAYS_MIN)
    return warn('disk', room, 'make room before that, or use a larger disk');
  return ok('disk', room);
}

/** Beyond ten years no forecast is shown. */
const DAYS_SHOWN_MAX = 3_650;

/**
 * The kinds of file systems that are bad for a database, by the number of `statfs` (Linux, `linux/magic.h`). All others
 * are fine.
 */
const FILE_SYSTEMS: Readonly<Record<number, readonly [name: string, kind: 'network' | 'memory' | 'layer']>> = {
  26985: ['NFS', 'network'],
  20859: ['SMB', 'network'],
  4283649346: ['CIFS', 'network'],
  4266872130: ['SMB2', 'network'],
  16914839: ['9P', 'network'],
  16914836: ['tmpfs', 'memory'],
  2240043254: ['ramfs', 'memory'],
  2035054128: ['overlay', 'layer'],
};

/** Warns of file systems that lose or damage a database. `type` is that of `statfs`. */
export function judgeFileSystem(type: number): readonly Finding[] {
  const [name, kind] = FILE_SYSTEMS[type] ?? [];
  if (kind === 'memory')
    return [fail('disk', `the database is in memory (${name}): a restart loses all`, 'set DATA_DIR to a disk')];
  if (kind === 'network')
    return [
      warn(
        'disk',
        `the database is on a network file system (${name}), whose locks and syncs may not hold`,
        'use a local disk, or a libSQL server',
      ),
    ];
  if (kind === 'layer')
    return [
      warn(
        'disk',
        `the database is in a container's own layer (${name}): it goes with the container`,
        'mount a volume',
      ),
    ];
  return [];
}

function checkSync(ms: number | undefined): Finding {
  const time = ms === undefined ? 'more than 50 ms' : `${ms.toFixed(ms < 1 ? 2 : 0)} ms`;
  const speed = `a durable write takes ${time}`;
  if (ms === undefined || ms > DISK_SYNC_MS_MAX)
    return warn('disk', speed, 'use a faster disk: every write waits for it');
  return ok('disk', speed);
}

/** Megabytes, with a digit behind the point where there are few. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}
