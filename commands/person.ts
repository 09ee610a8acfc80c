import { isoTime } from '../lib/base/clock.ts';
import { VaultError } from '../lib/base/error.ts';
import { inWords, type PersonPage, type RowsOfPerson, readPerson } from '../lib/person/read.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { print, printAnswer } from './cli/print.ts';
import { counted } from './cli/progress.ts';
import { onStore } from './open-store.ts';

const IDENTIFIER = option('IDENTIFIER', 'such as alice@example.com, +4915123456789, handle:alice or a DID');

/** `vault person show`. */
export const personShowCommand: Command = {
  summary: 'shows what is stored of a person',
  options: [IDENTIFIER, JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault person show alice@example.com --config /etc/vault/vault.env'],
  run: personShow,
};

/** `vault person export`. */
export const personExportCommand: Command = {
  summary: 'prints what is stored of a person as JSON, for the person',
  options: [IDENTIFIER, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault person export alice@example.com --config /etc/vault/vault.env > alice.json'],
  notes: ['Secrets that still work are left out. docs/privacy.md says what each table is.'],
  run: personExport,
};

/** Prints the rows of each table in words. */
async function personShow(given: Arguments): Promise<number> {
  const { tables, ...person } = await readAll(given, 'shown');
  const shown = tables.map((one) => ({ ...one, rows: one.rows.map(inWords) }));
  printAnswer(given, { ...person, tables: shown }, () => {
    const rows = shown.reduce((sum, one) => sum + one.rows.length, 0);
    if (rows === 0) return 'Nothing is stored of this person.';
    const names = [...person.identifiers, ...person.dids, ...person.accounts].join('\n  ');
    const hidden = person.unproven > 0 ? [`${counted(person.unproven, 'registration')} ${UNPROVEN}`] : [];
    const parts = shown.map(({ table, about, kept, erasure, rows }) =>
      [
        `${table}: ${about}; kept ${kept}; ${BY_ERASURE[erasure]}`,
        ...rows.map((row) => `  ${Object.entries(row).map(cellOf).join(', ')}`),
      ].join('\n'),
    );
    return [`  ${names}`, ...hidden, ...parts].join('\n\n');
  });
  return 0;
}

/** Prints one JSON object, with the rows as they are stored. */
async function personExport(given: Arguments): Promise<number> {
  const { tables, ...person } = await readAll(given, 'exported');
  const rows = Object.fromEntries(tables.map((one) => [one.table, { about: one.about, rows: one.rows }]));
  print(
    JSON.stringify({ format: 'vault-person-1', exportedAt: isoTime(Date.now()), ...person, tables: rows }, null, 2),
  );
  return 0;
}

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
