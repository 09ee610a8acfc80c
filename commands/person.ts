import { isoTime } from '../lib/base/clock.ts';
import { VaultError } from '../lib/base/error.ts';
import { type ErasureReport, emptyLog, erasePerson, type KeepErasures, planErasure } from '../lib/person/erase.ts';
import { inWords, type PersonPage, type RowsOfPerson, readPerson } from '../lib/person/read.ts';
import { noteErasures } from './backup/erasures.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import { canAsk, saysYes } from './cli/ask.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, DRY_RUN, FULL, HELP, IDENTIFIER, JSON_OUTPUT, option, YES } from './cli/options.ts';
import { print, printAnswer } from './cli/print.ts';
import { counted } from './cli/progress.ts';
import { onStore } from './open-store.ts';
import { makeDataDirectory } from './setup/secrets.ts';
import { isEmbedded } from './setup/settings.ts';

/** `vault person show`. */
export const personShowCommand: Command = {
  summary: "shows a person's stored data: how much in each table, or the rows",
  options: [IDENTIFIER, FULL, JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault person show alice@example.com --config /etc/vault/vault.env'],
  run: personShow,
};

/** `vault person export`. */
export const personExportCommand: Command = {
  summary: "prints a person's stored data as JSON, for the person",
  options: [IDENTIFIER, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault person export alice@example.com --config /etc/vault/vault.env > alice.json'],
  notes: ['Secrets that still work are left out. docs/privacy.md explains each table.'],
  run: personExport,
};

/** `vault person erase`. */
export const personEraseCommand: Command = {
  summary: 'erases a person, or says with --dry-run what that would do',
  options: [
    IDENTIFIER,
    DRY_RUN,
    YES,
    option('--vacuum', 'then rewrite the whole database file, so that no trace of deleted rows stays in it'),
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault person erase alice@example.com --dry-run --config /etc/vault/vault.env'],
  notes: [
    'It may be run again at any time: erased data stays erased. docs/privacy.md says which data stays, and why.',
    'DATA_DIR/erasures lists who was erased, as digests: vault restore applies it. Keep it with the backups.',
  ],
  run: personErase,
};

/** Prints how many rows each table has of the person, with `--full` the rows in words. */
async function personShow(given: Arguments): Promise<number> {
  const { tables, ...person } = await readAll(given, 'shown');
  const shown = tables.map((one) => ({ ...one, rows: one.rows.map(inWords) }));
  const isFull = given.options['full'] !== undefined;
  printAnswer(given, { ...person, tables: shown }, () => {
    const rows = shown.reduce((sum, one) => sum + one.rows.length, 0);
    if (rows === 0) return NOTHING;
    const names = [...person.identifiers, ...person.dids, ...person.accounts].join('\n  ');
    const hidden = person.unproven > 0 ? [`${counted(person.unproven, 'registration')} ${UNPROVEN}`] : [];
    const parts = isFull ? shown.map(rowsOf) : [shown.map(headOf).join('\n'), FULL_SAYS];
    return [`  ${names}`, ...hidden, ...parts].join('\n\n');
  });
  return 0;
}

type ShownTable = Omit<RowsOfPerson, 'rows'> & { readonly rows: readonly Readonly<Record<string, string>>[] };

function headOf({ table, about, kept, erasure, rows }: ShownTable): string {
  return `${table}: ${counted(rows.length, 'row')} (${about}), kept ${kept}; ${BY_ERASURE[erasure]}`;
}

function rowsOf(table: ShownTable): string {
  return [headOf(table), ...table.rows.map((row) => `  ${Object.entries(row).map(cellOf).join(', ')}`)].join('\n');
}

const FULL_SAYS = 'vault person show --full prints the rows, vault person export gives them to the person.';

/** Prints one JSON object, with the rows as they are stored. */
async function personExport(given: Arguments): Promise<number> {
  const { tables, ...person } = await readAll(given, 'exported');
  const rows = Object.fromEntries(tables.map((one) => [one.table, { about: one.about, rows: one.rows }]));
  print(
    JSON.stringify({ format: 'vault-person-1', exportedAt: isoTime(Date.now()), ...person, tables: rows }, null, 2),
  );
  return 0;
}

/** Erases on the database of the settings, whether a vault runs on it or not. Asks first at a terminal. */
async function personErase(given: Arguments): Promise<number> {
  const identifier = needOption(given, 'IDENTIFIER');
  const isDryRun = given.options['dry-run'] !== undefined;
  const report = await onStore(given, async (vault, database) => {
    if (isDryRun) return planErasure(vault, identifier);
    if (given.options['yes'] === undefined && canAsk()) {
      const plan = await planErasure(vault, identifier);
      console.error(inSentences(plan));
      if (plan.tables.length > 0 && !(await saysYes('This cannot be undone. Erase?'))) return undefined;
    }
    const { dataDir, databaseUrl } = vault.config;
    const keepErasures: KeepErasures = async (list) => noteErasures(dataDir, list);
    const isVacuum = given.options['vacuum'] !== undefined;
    if (isVacuum && !isEmbedded(databaseUrl)) throw new UsageError('--vacuum is for a database file.');
    makeDataDirectory(dataDir);
    const done = await erasePerson({ ...vault, keepErasures }, identifier);
    if (isVacuum) await database.execute({ sql: 'VACUUM', args: {} });
    return isVacuum ? { ...done, logEmptied: await emptyLog(vault) } : done;
  }).catch(explain);
  if (report === undefined) {
    console.error('Nothing was erased.');
    return 1;
  }
  printAnswer(given, report, () => inSentences(report));
  return report.waiting > 0 && !isDryRun ? 1 : 0;
}

function inSentences({ erased, identifiers, tables, waiting, logEmptied }: ErasureReport): string {
  if (tables.length === 0) return erased ? `${NOTHING} ${IF_RESTORED}` : NOTHING;
  const names = identifiers.length > 0 ? identifiers.join(', ') : 'no identifier is stored';
  const lines = tables.map(({ table, rows, about, erasure, why }) => {
    const what = `${table}: ${counted(rows, 'row')} (${about}) ${erased ? DONE[erasure] : TO_DO[erasure]}`;
    return why === '' ? what : `${what}: ${why}`;
  });
  const left = waiting > 0 ? [`${counted(waiting, 'row')} keep an address while a recovery runs: run this again.`] : [];
  const log = erased && !logEmptied ? [LOG_STAYS] : [];
  return [`${erased ? 'Erased' : 'Would erase'}: ${names}`, ...lines, ...left, ...log].join('\n');
}

const NOTHING = 'Nothing is stored of this person.';
const IF_RESTORED = 'If a backup has something of this person, its restore erases it.';
const LOG_STAYS = 'The log of the database was not emptied: until it is, it has pages as they were.';
const DONE = { removed: 'removed', unlinked: 'unlinked', stays: 'stays' } as const;
const TO_DO = { removed: 'would be removed', unlinked: 'would be unlinked', stays: 'would stay' } as const;

const UNPROVEN = 'of these DIDs without a proof are left out: anybody can make them';

const BY_ERASURE = {
  removed: 'an erasure removes it',
  unlinked: 'an erasure takes the identifier out of it',
  stays: 'an erasure leaves it',
} as const;

function cellOf([name, value]: readonly [string, string]): string {
  return `${name} ${value}`;
}

/** All pages as one. */
async function readAll(given: Arguments, why: 'shown' | 'exported'): Promise<Omit<PersonPage, 'next'>> {
  const identifier = needOption(given, 'IDENTIFIER');
  return onStore(given, async (vault) => {
    const found = new Map<string, RowsOfPerson>();
    for (let after: string | undefined; ; ) {
      const { tables, next, ...person } = await readPerson(vault, identifier, why, after);
      for (const one of tables)
        found.set(one.table, { ...one, rows: [...(found.get(one.table)?.rows ?? []), ...one.rows] });
      if (next === null) return { ...person, tables: [...found.values()] };
      after = next;
    }
  }).catch(explain);
}

function explain(error: unknown): never {
  if (error instanceof VaultError && error.code === 'bad_request') throw new UsageError(`${error.message}.`);
  throw error;
}
