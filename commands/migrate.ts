import { existsSync } from 'node:fs';
import { systemClock } from '../lib/base/clock.ts';
import { migrate as migrateDatabase, pendingMigrations } from '../lib/db/migrations.ts';
import { MIGRATIONS, type Migration } from '../lib/db/schema.ts';
import type { Arguments } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, DRY_RUN, HELP } from './cli/options.ts';
import { print } from './cli/print.ts';
import { counted } from './cli/progress.ts';
import { checkSettings, isEmbedded, loadSettings, previewSettings } from './setup/settings.ts';
import { databaseOf, filePath, openDatabase } from './storage/database.ts';

/** `vault migrate`. */
export const migrateCommand: Command = {
  summary: "brings the database's tables up to date",
  options: [CONFIG, DRY_RUN, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault migrate --dry-run --config /etc/vault/vault.env'],
  run: migrate,
};

/** Brings the tables up to date and prints the applied migrations; `--dry-run` only prints the pending ones. */
async function migrate(given: Arguments): Promise<number> {
  const dryRun = given.options['dry-run'] !== undefined;
  const config = dryRun ? checkSettings(previewSettings(given).settings) : loadSettings(given).config;
  // Opening a file would make it.
  const isNew = isEmbedded(config.databaseUrl) && !existsSync(filePath(config.databaseUrl));
  if (dryRun && isNew) return tell('would be applied', MIGRATIONS);
  const database = await openDatabase(databaseOf(config));
  try {
    if (dryRun) return tell('would be applied', await pendingMigrations(database));
    const begins = ({ version, name }: Migration, left: number) =>
      process.stderr.write(`${version} ${name} … (${counted(left, 'migration')} left)\n`);
    return tell('applied', await migrateDatabase(database, systemClock, undefined, begins));
  } finally {
    database.close();
  }
}

function tell(verb: string, migrations: readonly { readonly version: number; readonly name: string }[]): number {
  for (const { version, name } of migrations) print(`${version} ${name}: ${verb}`);
  if (migrations.length === 0) print('The tables are up to date.');
  return 0;
}
