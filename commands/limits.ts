import { closest } from '../lib/base/closest.ts';
import { VaultError } from '../lib/base/error.ts';
import { STORED_LIMITS, type StoredLimit } from '../lib/limits/catalogue.ts';
import { clearLimit, type LimitUse, showLimits } from '../lib/limits/report.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { onStore } from './open-store.ts';

const KIND = option('--kind <kind>', 'name of the limit, such as sends-per-ip', STORED_LIMITS);
const KEY = option(
  '--key <key>',
  'an IP, or an identifier such as email:alice@example.com; the -per-day limits have none',
);

/** `vault limits show`. */
export const limitsShowCommand: Command = {
  summary: 'shows how much of each limit is used',
  options: [KIND, KEY, JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: [
    'vault limits show --config /etc/vault/vault.env',
    'vault limits show --kind sends-per-ip --key 203.0.113.7',
  ],
  run: limitsShow,
};

/** `vault limits clear`. */
export const limitsClearCommand: Command = {
  summary: 'resets a limit for a blocked user',
  options: [KIND, KEY, JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault limits clear --kind sends-per-number --key +14155550100'],
  run: limitsClear,
};

/** Prints how much of the stored limits is used, the fullest buckets first, as a table or JSON. */
async function limitsShow(given: Arguments): Promise<number> {
  const { options } = given;
  const kind = options['kind'] === undefined ? undefined : readKind(options['kind']);
  const key = options['key'];
  if (key !== undefined && kind === undefined) throw new UsageError('vault limits show --key needs --kind.');
  const uses = await onStore(given, (vault) => showLimits(vault, { kind, key })).catch(explain);
  printAnswer(given, uses, () => (uses.length === 0 ? 'No limit is in use.' : table(uses)));
  return 0;
}

/** Resets one bucket on every vault of the database, from the next request on. Emits `limit.cleared`. */
async function limitsClear(given: Arguments): Promise<number> {
  const kind = readKind(needOption(given, 'kind'));
  const key = given.options['key'];
  const cleared = await onStore(given, (vault) => clearLimit(vault, { kind, key })).catch(explain);
  printAnswer(
    given,
    cleared,
    () => `${[cleared.kind, cleared.key].filter(Boolean).join(' ')}: ${cleared.cleared} no longer count`,
  );
  return 0;
}

function readKind(text: string): StoredLimit {
  const kind = STORED_LIMITS.find((one) => one === text);
  if (kind !== undefined) return kind;
  const near = closest(text, STORED_LIMITS);
  throw new UsageError(
    `--kind is one of ${STORED_LIMITS.join(', ')}${near === undefined ? '' : `: did you mean ${near}?`}`,
  );
}

function explain(error: unknown): never {
  if (error instanceof VaultError && error.code === 'bad_request') throw new UsageError(`${error.message}.`);
  throw error;
}

function table(uses: readonly LimitUse[]): string {
  const rows = uses.map(({ kind, key, used, max, reached, resets_at }) => [
    kind,
    key === '' ? '–' : key,
    `${used} of ${max}${reached ? ', reached' : ''}`,
    resets_at === null ? '' : `until ${resets_at}`,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
