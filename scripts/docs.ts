// bun scripts/docs.ts: writes docs/settings.md from the table of settings; a test says when it is stale.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Setting } from '../lib/config/setting.ts';
import { SUBJECTS } from '../lib/config/settings.ts';

/** The text of docs/settings.md. */
export function settingsDocument(): string {
  const subjects = Object.entries<Readonly<Record<string, Setting>>>(SUBJECTS);
  return [HEAD, ...subjects.map(([subject, settings]) => section(subject, settings))].join('\n');
}

const HEAD = `# Settings

<!-- Written by \`bun scripts/docs.ts\` from lib/config/settings.ts: change it there. -->

Every setting is an environment variable, a flag of the same name (\`--base-url\`) and a line of the file that
\`--config\` names. Flags override the environment; the environment overrides the file. No file is read from the current
directory by default. Secrets (🔑) have no flag, because other users can read a command line. For secrets and URLs (🔗,
shown only by their origin), \`NAME_FILE\` names a file that contains the value.

Lists are separated by commas. An empty value counts as unset. \`vault config\` prints the settings in force and their
sources. Invalid settings are reported all at once, without values, and end the program with exit code 2.
`;

function section(subject: string, settings: Readonly<Record<string, Setting>>): string {
  const rows = Object.entries(settings).map(([name, setting]) => row(name, setting));
  return [`## ${subject}`, '', '| variable | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

const MARKS = { plain: '', secret: ' 🔑', endpoint: ' 🔗' };

function row(name: string, { kind, meaning, default: fallback }: Setting): string {
  const words = typeof fallback === 'object' ? fallback.words.replaceAll('<', '&lt;') : fallback && `\`${fallback}\``;
  return `| \`${name}\`${MARKS[kind]} | ${words || '–'} | ${meaning} |`;
}

if (import.meta.main) {
  const docs = join(import.meta.dir, '../docs');
  await mkdir(docs, { recursive: true });
  await Bun.write(join(docs, 'settings.md'), settingsDocument());
}
