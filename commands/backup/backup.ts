import { Database as Connection } from 'bun:sqlite';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isoTime, systemClock } from '../../lib/base/clock.ts';
import { VERSION } from '../../lib/base/version.ts';
import type { Config } from '../../lib/config/config.ts';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { backupKey } from '../../lib/identity/keys.ts';
import { type Arguments, needOption, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, FILE, HELP, JSON_OUTPUT, WITH_SECRETS } from '../cli/options.ts';
import { printAnswer } from '../cli/print.ts';
import { counted, createProgress, type Progress } from '../cli/progress.ts';
import { KEY_FILES } from '../setup/secrets.ts';
import { checkSettings, isEmbedded, previewSettings } from '../setup/settings.ts';
import { databaseOf, filePath, noDatabase } from '../storage/database.ts';
import { draftOf, isCode, noticeSignals, publish, whileDrafting } from '../storage/durable.ts';
import { openServer } from '../storage/server.ts';
import { checkContents, countRows, schemaVersion } from '../storage/tables.ts';
import { type Manifest, seal } from './backup-file.ts';
import { copyEmbedded, copyRemote } from './snapshot.ts';

/** `vault backup`. */
export const backupCommand: Command = {
  summary: 'writes everything stored into one file, while the vault runs',
  options: [FILE, WITH_SECRETS, JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  notes: [
    'The file is one checked state of the database. Only its owner can read it. It never replaces a file.',
    'It contains secrets only with --with-secrets. Keep the secrets that the command lists somewhere else.',
  ],
  run: backup,
};

/**
 * Writes a snapshot of the database into a new file that only its owner can read, while the vault serves, and prints
 * which secrets to keep elsewhere. The file gets its name only after it is checked and on the disk.
 */
async function backup(given: Arguments): Promise<number> {
  const path = resolve(needOption(given, 'FILE'));
  const { settings } = previewSettings(given);
  const config = checkSettings(settings);
  if (existsSync(path)) throw new UsageError(`${path} exists: choose another name, because a backup replaces nothing.`);
  const secrets = given.options['with-secrets'] === undefined ? undefined : readKeyFiles(config.dataDir);
  const manifest = await writeBackup(config, path, secrets);
  tell(given, path, manifest, secretsElsewhere(settings.sources, secrets));
  return 0;
}

async function writeBackup(config: Config, path: string, secrets: Manifest['secrets']): Promise<Manifest> {
  const progress = createProgress();
  const draft = draftOf(path);
  try {
    return await whileDrafting(draft, async () => {
      const createdAt = isoTime(systemClock.now());
      await copyDatabase(config, draft, progress);
      await noticeSignals();
      progress.say('checking …');
      const { schema, rows } = describeCopy(draft);
      await noticeSignals();
      progress.say('writing …');
      const facts = { createdAt, vault: VERSION, schema, rows, ...(secrets && { secrets }) };
      const manifest = seal(draft, facts, backupKey(config.vaultSecret));
      await noticeSignals();
      publish(draft, path);
      return manifest;
    });
  } catch (error) {
    if (isCode(error, 'EEXIST')) throw new UsageError(`${path} was created meanwhile: nothing was written.`);
    throw new Error(`no backup was made: ${error instanceof Error ? error.message : error}`, { cause: error });
  } finally {
    progress.end();
  }
}

async function copyDatabase(config: Config, draft: string, progress: Progress): Promise<void> {
  const { databaseUrl: url } = config;
  progress.say('copying …');
  if (isEmbedded(url)) {
    const path = filePath(url);
    if (!existsSync(path)) throw noDatabase(path);
    copyEmbedded(path, draft);
    return;
  }
  const client = await openServer(databaseOf(config), 'bigint');
  try {
    await copyRemote(client, draft, progress);
  } finally {
    client.close();
  }
}

/** What a damaged database holds is no backup. */
function describeCopy(draft: string): Pick<Manifest, 'schema' | 'rows'> {
  const connection = new Connection(draft, { readonly: true, strict: true });
  try {
    const rows = countRows(connection);
    checkContents(connection, rows);
    return { schema: schemaVersion(connection), rows };
  } finally {
    connection.close();
  }
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

function tell(given: Arguments, file: string, manifest: Manifest, elsewhere: readonly string[]): void {
  const { secrets, ...facts } = manifest;
  const inside = Object.keys(secrets ?? {});
  const rows = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0);
  printAnswer(given, { file, ...facts, secrets: inside, secretsElsewhere: elsewhere }, () =>
    [
      `${file}: ${counted(rows, 'row')}, ${manifest.bytes} bytes, as of ${manifest.createdAt}`,
      ...(inside.length > 0
        ? [`It contains secrets (${inside.join(', ')}): anyone who reads it can act as this vault.`]
        : []),
      ...(elsewhere.length > 0 ? ['It does not contain these secrets: keep them elsewhere.'] : []),
      ...elsewhere.map((secret) => `  ${secret}`),
    ].join('\n'),
  );
}
