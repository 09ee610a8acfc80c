import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import { atLevel } from '../../lib/base/log.ts';
import type { Config } from '../../lib/config/config.ts';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { backupKey } from '../../lib/identity/keys.ts';
import { type Arguments, needOption, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { BACKUP_PLACE_SETTINGS, CONFIG, FILE, HELP, JSON_OUTPUT, option, WITH_SECRETS } from '../cli/options.ts';
import { printAnswer } from '../cli/print.ts';
import { counted, createProgress, type Progress } from '../cli/progress.ts';
import { createLog } from '../serve/log.ts';
import { KEY_FILES } from '../setup/secrets.ts';
import { checkSettings, previewSettings } from '../setup/settings.ts';
import { draftOf, isCode, publish, whileDrafting } from '../storage/durable.ts';
import type { Manifest } from './backup-file.ts';
import { type Retention, vaultMark } from './backup-name.ts';
import { type Kept, keepBackup } from './keep-backup.ts';
import { type BackupOrder, checkSource, makeBackup } from './make-backup.ts';
import { noneMade } from './none-made.ts';
import { noteInDatabase } from './note-backup.ts';
import { openPlace } from './open-place.ts';
import type { BackupPlace } from './place.ts';
import { type BackupProofs, findBackups } from './proof.ts';
import { readInterval, runSchedule } from './schedule.ts';

/** How many backups a place keeps by default, and of how many days. */
const KEPT = { keep: 24, keepDays: 7 };

/** `vault backup`. */
export const backupCommand: Command = {
  summary: 'writes everything stored into one file, while the vault runs; again and again with --every',
  options: [
    FILE,
    option('--to <place>', 'instead of FILE: a folder, or s3://BUCKET/PREFIX, that keeps several backups'),
    option('--every <interval>', 'with --to: go on, with a backup each 15m, 6h or 1d'),
    option('--keep <n>', `with --to: how many of the newest stay [${KEPT.keep}]`),
    option('--keep-days <n>', `with --to: the newest of each of the last n days stays too [${KEPT.keepDays}]`),
    WITH_SECRETS,
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: BACKUP_PLACE_SETTINGS,
  examples: [
    'vault backup /var/backups/today.backup --config /etc/vault/vault.env',
    'vault backup --every 1h --to s3://my-bucket/vault --config /etc/vault/vault.env',
  ],
  notes: [
    'The file is one checked state of the database. Only its owner can read it. It never replaces a file.',
    'It contains secrets only with --with-secrets. Keep the secrets that the command lists somewhere else.',
    'With --to, each backup is read back in full before older ones are removed. vault restore --from takes the newest.',
  ],
  run: backup,
};

/**
 * Writes a snapshot of the database into a new file that only its owner can read, while the vault serves, and prints
 * which secrets to keep elsewhere. The file gets its name only after it is checked and on the disk.
 */
async function backup(given: Arguments): Promise<number> {
  const { to, every } = given.options;
  if (to === undefined) return backUpOnce(given);
  if (given.options['FILE'] !== undefined) throw new UsageError('give FILE or --to, not both.');
  const retention = readRetention(given);
  const everyMs = every === undefined ? undefined : readInterval(every);
  const read = readOrder(given);
  const { config } = read;
  const place = await openPlace(to, config, config.dataDir);
  if (everyMs !== undefined) return backUpEvery(given, config, { place, retention, everyMs });
  const { order, elsewhere } = orderOf(given, read);
  const { name, manifest, removed, unremoved, unproven } = await telling(order, () =>
    keepBackup(order, place, retention),
  );
  const unnoted = await noteInDatabase(config, manifest, place.shown);
  tell(given, { file: `${place.shown}/${name}`, manifest, elsewhere, unnoted, more: { removed, unremoved, unproven } });
  return 0;
}

async function backUpOnce(given: Arguments): Promise<number> {
  const extra = ['every', 'keep', 'keep-days'].find((name) => given.options[name] !== undefined);
  if (extra !== undefined) throw new UsageError(`--${extra} needs --to, a folder or s3://BUCKET/PREFIX.`);
  const path = resolve(needOption(given, 'FILE'));
  const read = readOrder(given);
  if (existsSync(path)) throw new UsageError(`${path} exists: choose another name, because a backup replaces nothing.`);
  if (!existsSync(dirname(path))) throw noneMade(`there is no folder ${dirname(path)}: make it, or choose another one`);
  const { order, elsewhere } = orderOf(given, read);
  const manifest = await telling(order, () => writeFile(order, path));
  const unnoted = await noteInDatabase(read.config, manifest, path);
  tell(given, { file: path, manifest, elsewhere, unnoted, more: {} });
  return 0;
}

async function writeFile(order: BackupOrder, path: string): Promise<Manifest> {
  const draft = draftOf(path);
  return whileDrafting(draft, async () => {
    const manifest = await makeBackup(order, draft);
    try {
      publish(draft, path);
    } catch (error) {
      if (isCode(error, 'EEXIST')) throw new UsageError(`${path} was created meanwhile: nothing was written.`);
      throw error;
    }
    return manifest;
  });
}

/** Says that there is no backup where one could not be made. */
async function telling<T>({ progress }: { progress: Progress }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UsageError ? error : noneMade(error);
  } finally {
    progress.end();
  }
}

interface Keeping {
  readonly place: BackupPlace;
  readonly retention: Retention;
  readonly everyMs: number;
}

async function backUpEvery(given: Arguments, config: Config, { place, retention, everyMs }: Keeping): Promise<number> {
  let last = 0;
  const proofs: BackupProofs = new Map();
  const log = atLevel(config.logLevel, createLog(config.logFormat));
  const firstMs = await untilNext(config, { place, retention, everyMs }, proofs);
  log({ level: 'info', event: 'backup_schedule', place: place.shown, everyMs, firstInMs: firstMs });
  return runSchedule({
    everyMs,
    firstMs,
    log,
    async turn() {
      // Read at each turn: the vault that makes the secret and the database may start later than this.
      const { order } = orderOf(given);
      const kept = await telling(order, () => keepBackup({ ...order, last, proofs }, place, retention));
      last = kept.number;
      const unnoted = await noteInDatabase(order.config, kept.manifest, place.shown);
      return { ...describeKept(kept, place), ...(unnoted !== undefined && { unnoted }) };
    },
  });
}

/** A process that is restarted again and again makes no more backups than one that keeps running. */
async function untilNext({ vaultSecret }: Config, { place, everyMs }: Keeping, proofs: BackupProofs): Promise<number> {
  const key = backupKey(vaultSecret);
  const found = await findBackups(place, vaultMark(key), key, proofs).catch(() => undefined);
  const newest = found?.proven[0];
  const due = newest === undefined ? 0 : newest.time + everyMs - systemClock.now();
  return Math.min(everyMs, Math.max(0, due));
}

/** How many names a line of the log lists. */
const LOGGED_NAMES_MAX = 20;

function describeKept({ name, manifest, removed, unremoved, unproven }: Kept, place: BackupPlace) {
  const { bytes, rows } = manifest;
  const left = {
    ...(unremoved.length > 0 && { unremoved }),
    ...(unproven.length > 0 && { unproven: unproven.slice(0, LOGGED_NAMES_MAX), unprovenCount: unproven.length }),
  };
  return { place: place.shown, name, bytes, registrations: rows['registrations'], removed: removed.length, ...left };
}

function readRetention({ options }: Arguments): Retention {
  const read = (name: string, fallback: number, least: number) => {
    const text = options[name] ?? String(fallback);
    if (/^\d{1,5}$/.test(text) && Number(text) >= least) return Number(text);
    throw new UsageError(`--${name} must be a whole number from ${least} to 99999.`);
  };
  return { keep: read('keep', KEPT.keep, 1), keepDays: read('keep-days', KEPT.keepDays, 0) };
}

function readOrder(given: Arguments) {
  const { settings, unkept } = previewSettings(given);
  return { settings, unkept, config: checkSettings(settings) };
}

/** The content of a backup made now. Throws if there is none. */
function orderOf(given: Arguments, read = readOrder(given)): { order: BackupOrder; elsewhere: string[] } {
  const { settings, unkept, config } = read;
  try {
    checkSource(config, unkept);
  } catch (error) {
    throw noneMade(error);
  }
  const secrets = given.options['with-secrets'] === undefined ? undefined : readKeyFiles(config.dataDir);
  return {
    order: { config, secrets, progress: createProgress() },
    elsewhere: secretsElsewhere(settings.sources, secrets),
  };
}

function readKeyFiles(dataDir: string): Record<string, string> {
  const found = KEY_FILES.filter((name) => existsSync(join(dataDir, name)));
  return Object.fromEntries(found.map((name) => [name, readFileSync(join(dataDir, name), 'utf8').trim()]));
}

/** The secrets in force and where they came from, but for those that are in the backup. */
function secretsElsewhere(sources: Readonly<Record<string, string>>, secrets: Manifest['secrets'] = {}): string[] {
  const isInside = (source: string) =>
    Object.keys(secrets).some((name) => source.startsWith('generated') && source.endsWith(name));
  return SETTING_NAMES.filter((name) => SETTINGS[name].kind === 'secret').flatMap((name) => {
    const source = sources[name];
    return source === undefined || isInside(source) ? [] : [`${name} (${source})`];
  });
}

interface Told {
  readonly file: string;
  readonly manifest: Manifest;
  readonly elsewhere: readonly string[];
  /** Why the database does not know of it. */
  readonly unnoted: string | undefined;
  readonly more: Partial<Pick<Kept, 'removed' | 'unremoved' | 'unproven'>>;
}

function tell(given: Arguments, { file, manifest, elsewhere, unnoted, more }: Told): void {
  const { secrets, ...facts } = manifest;
  const inside = Object.keys(secrets ?? {});
  const rows = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0);
  printAnswer(given, { file, ...facts, ...more, secrets: inside, secretsElsewhere: elsewhere }, () =>
    [
      `${file}: ${counted(rows, 'row')}, ${manifest.bytes} bytes, as of ${manifest.createdAt}`,
      ...(more.removed ?? []).map((name) => `  ${name} was removed`),
      ...(more.unremoved ?? []).map((name) => `  ${name} could not be removed`),
      ...(more.unproven ?? []).map((name) => `  ${name} is not what its name says, and was left alone`),
      ...(inside.length > 0
        ? [`It contains secrets (${inside.join(', ')}): anyone who reads it can act as this vault.`]
        : []),
      ...(elsewhere.length > 0 ? ['It does not contain these secrets: keep them elsewhere.'] : []),
      ...elsewhere.map((secret) => `  ${secret}`),
    ].join('\n'),
  );
  if (unnoted !== undefined)
    console.error(`vault: the backup is made, but the database does not know of it: ${unnoted}`);
}
