// bun scripts/docs.ts: writes docs/settings.md and packaging/vault.env from the settings, the table of limits in
// docs/operating.md from their catalogue, the one of lib/ in docs/architecture.md, the words of
// docs/troubleshooting.md, the weights of pages in docs/pages.md, and from the routes the operations in docs/http.md
// and the types of the client; a test fails when one is stale.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { settingsFile } from '../commands/setup/settings-file.ts';
import { FIRST_TOPICS, START_HERE } from '../lib/config/first-settings.ts';
import type { Setting } from '../lib/config/setting.ts';
import { SUBJECTS } from '../lib/config/settings.ts';
import { LIMITS } from '../lib/limits/catalogue.ts';
import { type Limit, SHARE_MIN } from '../lib/limits/limit.ts';
import type { OtherTable } from '../lib/person/other-tables.ts';
import { type PersonalTable, TABLES } from '../lib/person/table-store.ts';
import { withLibFolders } from './lib-folders.ts';
import { withReference } from './openapi/reference.ts';
import { WIRE_FILE, wireTypes } from './openapi/wire.ts';
import { installTools } from './testing/tools.ts';
import { withTroubles } from './troubleshooting.ts';
import { weighPages, withWeights } from './weights.ts';

/** The text of docs/settings.md. */
export function settingsDocument(): string {
  const subjects = Object.entries<Readonly<Record<string, Setting>>>(SUBJECTS);
  return [HEAD, startHere(), ...subjects.map(([subject, settings]) => section(subject, settings))].join('\n');
}

const HEAD = `# Settings

<!-- Written by \`bun scripts/docs.ts\` from lib/config/settings.ts: change it there. -->

Every setting is an environment variable, a flag of the same name (\`--base-url\`) and a line of the file that
\`--config\` names. Flags override the environment; the environment overrides the file. No file is read from the current
directory by default. Secrets (🔑) have no flag, because other users can read a command line. For secrets and URLs (🔗,
shown only by their origin), \`NAME_FILE\` names a file that contains the value.

Lists are separated by commas. An empty value counts as unset. \`vault help settings NAME\` says the type of one, with an
example. \`vault config\` prints the settings in force and their sources. Invalid settings are reported all at once,
without values, and end the program with exit code 2.
`;

/** The text of packaging/vault.env: a settings file before anything is set but where the data is. */
export function packagedSettings(): string {
  return settingsFile({ vars: { DATA_DIR: '/var/lib/vault' }, sources: {} });
}

function startHere(): string {
  const rows = Object.values(FIRST_TOPICS).map(
    ({ title, about, names }) => `| ${title} | ${about} | ${names.map((name) => `\`${name}\``).join(', ')} |`,
  );
  const words = '`vault init` asks for these, checks each answer, and writes a file for `--config`.';
  return [`## ${START_HERE}`, '', words, '', '| what | about | settings |', '|---|---|---|', ...rows, ''].join('\n');
}

function section(subject: string, settings: Readonly<Record<string, Setting>>): string {
  const rows = Object.entries(settings).map(([name, setting]) => row(name, setting));
  return [`## ${subject}`, '', '| variable | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

const MARKS = { plain: '', secret: ' 🔑', endpoint: ' 🔗' };

function row(name: string, { kind, meaning, default: fallback }: Setting): string {
  const words = typeof fallback === 'object' ? fallback.words.replaceAll('<', '&lt;') : fallback && `\`${fallback}\``;
  return `| \`${name}\`${MARKS[kind]} | ${words || '–'} | ${meaning} |`;
}

/** docs/privacy.md with its tables, as `lib/person/` has them. Throws where the marks of the tables are gone. */
export function withPersonalTables(document: string): string {
  const entries = Object.entries<PersonalTable | OtherTable>(TABLES);
  const personal = entries.flatMap(([table, one]) =>
    'none' in one
      ? []
      : [`| \`${table}\` | ${one.about} | ${one.kept} | ${[one.erasure, one.why].filter(Boolean).join(': ')} |`],
  );
  const others = entries.flatMap(([table, one]) => ('none' in one ? [`| \`${table}\` | ${one.none} |`] : []));
  const first = between(document, PERSONAL_BEGIN, [
    '| table | a row is | kept | an erasure |',
    '|---|---|---|---|',
    ...personal,
  ]);
  return between(first, OTHERS_BEGIN, ['| table | what it holds |', '|---|---|', ...others]);
}

const PERSONAL_BEGIN = '<!-- Written by `bun scripts/docs.ts` from lib/person/table-store.ts: change it there. -->';
const OTHERS_BEGIN = '<!-- Written by `bun scripts/docs.ts`: tables without persons. -->';

/** The document with these lines between a mark and the next end mark. */
function between(document: string, begin: string, lines: readonly string[]): string {
  const [before, rest] = document.split(begin);
  const end = rest?.indexOf(LIMITS_END) ?? -1;
  if (before === undefined || rest === undefined || end < 0)
    throw new Error(`there is no place for the text of ${begin}`);
  return `${before}${begin}\n${lines.join('\n')}\n${rest.slice(end)}`;
}

/** docs/operating.md with the table of limits as the catalogue has it. Throws where the marks of the table are gone. */
export function withLimits(document: string): string {
  const [before, rest] = document.split(LIMITS_BEGIN);
  const after = rest?.split(LIMITS_END)[1];
  if (before === undefined || after === undefined) throw new Error('docs/operating.md has no place for the limits');
  const rows = Object.entries<Limit>(LIMITS).map(([name, limit]) => limitRow(name, limit));
  const head = ['| limit | at most | per | of one network | refused with | stored |', '|---|---|---|---|---|---|'];
  const table = [...head, ...rows].join('\n');
  return `${before}${LIMITS_BEGIN}\n${table}\n${LIMITS_END}${after}`;
}

const LIMITS_BEGIN = '<!-- Written by `bun scripts/docs.ts` from lib/limits/catalogue.ts: change it there. -->';
const LIMITS_END = '<!-- The end of what is written. -->';

function limitRow(name: string, limit: Limit): string {
  const { counts, max, windowSeconds, bucket, error, stored } = limit;
  const most = mostOf(max);
  const span = typeof windowSeconds === 'number' ? SPANS[windowSeconds] : `\`${variableOf(windowSeconds)}\``;
  const per = [bucket, span].filter(Boolean).join(', ');
  const word = error === null ? '–' : `\`${error}\``;
  return `| \`${name}\` | ${most} ${counts} | ${per} | ${shareOf(limit)} | ${word} | ${stored === undefined ? 'no' : 'yes'} |`;
}

/** The share of one network in a limit of the whole vault, or why it may take all. */
function shareOf(limit: Limit): string {
  if (limit.bucket !== 'vault') return '–';
  return 'share' in limit ? `\`${limit.share}\`` : `all: ${limit.unshared}`;
}

function mostOf(max: Limit['max']): string {
  if (typeof max === 'number') return `${max}`;
  if (typeof max === 'string') return `\`${variableOf(max)}\``;
  const { of } = 'gweiOf' in max ? { of: max } : max;
  const whole = typeof of === 'number' ? of : `\`${variableOf(typeof of === 'object' ? of.gweiOf : of)}\``;
  if ('gweiOf' in max) return `${whole}`;
  if ('times' in max) return `${max.times} × ${whole}`;
  const least = max.atLeast === undefined ? '' : ` × \`${variableOf(max.atLeast)}\``;
  return `\`NETWORK_SHARE_PERCENT\` of ${whole}, or ${SHARE_MIN}${least},`;
}

const SPANS: Readonly<Record<number, string>> = { 60: 'minute', 600: '10 minutes', 3600: 'hour', 86400: 'day' };

/** The variable of a setting's member: `smsDailyMax` is `SMS_DAILY_MAX`. */
function variableOf(member: string): string {
  return member.replace(/[A-Z]/g, '_$&').toUpperCase();
}

if (import.meta.main) {
  installTools();
  const docs = join(import.meta.dir, '../docs');
  await mkdir(docs, { recursive: true });
  await Bun.write(join(docs, 'settings.md'), settingsDocument());
  await Bun.write(join(docs, '../packaging/vault.env'), packagedSettings());
  const operating = Bun.file(join(docs, 'operating.md'));
  await Bun.write(operating, withLimits(await operating.text()));
  const architecture = Bun.file(join(docs, 'architecture.md'));
  await Bun.write(architecture, withLibFolders(await architecture.text()));
  const privacy = Bun.file(join(docs, 'privacy.md'));
  await Bun.write(privacy, withPersonalTables(await privacy.text()));
  const troubleshooting = Bun.file(join(docs, 'troubleshooting.md'));
  await Bun.write(troubleshooting, withTroubles(await troubleshooting.text()));
  const pages = Bun.file(join(docs, 'pages.md'));
  await Bun.write(pages, withWeights(await pages.text(), await weighPages()));
  const http = Bun.file(join(docs, 'http.md'));
  await Bun.write(http, await withReference(await http.text()));
  await Bun.write(join(docs, '..', WIRE_FILE), await wireTypes());
}
