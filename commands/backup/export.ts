import { closeSync, existsSync, fsyncSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { isoTime } from '../../lib/base/clock.ts';
import type { Database, Row } from '../../lib/db/database.ts';
import { selectRegistrationsAfter, toRegistration } from '../../lib/registration/operator.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, HELP, option } from '../cli/options.ts';
import { STANDARD_OUTPUT } from '../cli/print.ts';
import { counted, createProgress } from '../cli/progress.ts';
import { checkSettings, previewSettings } from '../setup/settings.ts';
import { openExisting } from '../storage/database.ts';
import { draftOf, noticeSignals, publish, whileDrafting, writeAll } from '../storage/durable.ts';
import { COPY_ROWS_MAX } from './snapshot.ts';

/** `vault export`. */
export const exportCommand: Command = {
  summary: 'prints the registrations, one JSON object per line, ordered by id',
  options: [
    option('--after <id>', 'only registrations with a higher id [0]'),
    option('--out <file>', 'the file to write [standard output]'),
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault export --out registrations.jsonl --config /etc/vault/vault.env'],
  notes: ['The last line on standard error has their number and the id to continue --after.'],
  run: exportRegistrations,
};

/**
 * Prints every registration as a line of JSON ordered by id, or writes them to a new file. `--after` continues after an
 * id. The last line, on standard error, has their number and the last id. One page is in memory at a time.
 */
async function exportRegistrations(given: Arguments): Promise<number> {
  const after = readId(given.options['after'] ?? '0');
  const config = checkSettings(previewSettings(given).settings);
  const out = given.options['out'];
  const path = out === undefined ? undefined : resolve(out);
  if (path !== undefined && existsSync(path)) throw new UsageError(`${path} exists: choose another name.`);
  if (path === undefined && process.stdout.isTTY)
    console.error('vault: the identifiers are complete, not masked: take care who sees them.');
  const database = await openExisting(config);
  try {
    const { count, last } =
      path === undefined ? await toStandardOutput(database, after) : await toFile(database, after, path);
    const next = last === undefined ? '' : `, the last one has id ${last}; continue with --after ${last}`;
    console.error(`vault: ${counted(count, 'registration')}${next}`);
    return 0;
  } finally {
    database.close();
  }
}

interface Summary {
  readonly count: number;
  readonly last: number | undefined;
}

function readId(text: string): number {
  const id = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(id)) return id;
  throw new UsageError('--after must be the id of a registration: a whole number.');
}

async function toStandardOutput(database: Database, after: number): Promise<Summary> {
  return writePages(database, after, (text) => writeAll(STANDARD_OUTPUT, Buffer.from(text)));
}

async function toFile(database: Database, after: number, path: string): Promise<Summary> {
  const draft = draftOf(path);
  const progress = createProgress();
  return whileDrafting(draft, async () => {
    const file = openSync(draft, 'wx', 0o600);
    let written = 0;
    try {
      const summary = await writePages(database, after, async (text, count) => {
        writeAll(file, Buffer.from(text));
        written += count;
        progress.say(counted(written, 'registration'));
        await noticeSignals();
      });
      fsyncSync(file);
      publish(draft, path);
      return summary;
    } finally {
      progress.end();
      closeSync(file);
    }
  });
}

async function writePages(
  database: Database,
  after: number,
  write: (text: string, count: number) => void | Promise<void>,
): Promise<Summary> {
  let count = 0;
  let last: number | undefined;
  for (;;) {
    const { sql, args } = selectRegistrationsAfter(last ?? after, COPY_ROWS_MAX);
    const { rows } = await database.execute({ sql, args: { ...args } });
    if (rows.length === 0) return { count, last };
    await write(rows.map((row) => `${JSON.stringify(describe(row))}\n`).join(''), rows.length);
    count += rows.length;
    last = Number(rows.at(-1)?.['id']);
  }
}

/** The members are a stable format: none is removed or changes its meaning. */
function describe(row: Row) {
  const { id, identifier: key, registeredAt, smartAccount, ...rest } = toRegistration(row);
  const isSigned = rest.proofKey !== null || rest.isProvenByV1;
  return {
    id,
    identifier: key.slice(rest.channel.length + 1),
    channel: rest.channel,
    did: rest.did,
    credentialId: rest.credentialId,
    status: rest.status,
    failure: rest.failure,
    strength: isSigned ? 2 : rest.isAliased ? 1 : 0,
    txHash: rest.txHash === '' ? null : rest.txHash,
    blockNumber: rest.blockNumber,
    smartAccount,
    didHash: rest.didHash,
    aliasHash: rest.aliasHash,
    registeredAt: isoTime(registeredAt),
    controller: rest.controller,
    final: rest.isFinal,
    holder: rest.isHolder,
    lost: rest.lost,
  };
}
