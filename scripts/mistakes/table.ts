// docs/mistakes.md: what operators do wrong, and what the program says to it.
import { FILES, LINES } from './commands.ts';
import type { Mistake } from './mistake.ts';
import { OUTSIDE, UNHEARD } from './places.ts';
import { TOGETHER } from './together.ts';
import { VALUES } from './values.ts';

/** Every mistake, by subject. tests/commands/mistakes.test.ts makes each of them with the built program. */
export const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  'Values that cannot be used': VALUES,
  'Settings that do not go together': TOGETHER,
  'Settings that nothing reads': UNHEARD,
  'Files of settings and secrets': FILES,
  'Command lines': LINES,
  'Ports, folders, the chain, the mail server': OUTSIDE,
};

/** docs/mistakes.md. */
export function mistakesDocument(): string {
  const count = Object.values(MISTAKES).flat().length;
  const sections = Object.entries(MISTAKES).map(([subject, mistakes]) =>
    [`## ${subject}`, '', '| done | said | exit |', '|---|---|---|', ...mistakes.map(row), ''].join('\n'),
  );
  return [HEAD.replace('COUNT', String(count)), ...sections].join('\n');
}

const HEAD = `# Mistakes, and what the vault says

<!-- Written by \`bun scripts/docs.ts\` from scripts/mistakes/: change it there. -->

COUNT mistakes of operators. A test makes each of them with the built program, and compares what it prints and its exit
code. Where none is named, the command is \`vault serve\`. Exit code 2 is invalid usage, 1 a failure; "goes on" is a
warning in the log. No message contains the value of a secret.
`;

function row(mistake: Mistake): string {
  const said = mistake.says.map(inCode).join('<br>');
  return `| ${doneOf(mistake)} | ${said} | ${mistake.exit} |`;
}

/** The words for it, the command line and the settings. */
function doneOf({ done, args, vars = {} }: Mistake): string {
  const settings = Object.entries(vars).map(([name, value]) => inCode(`${name}=${value}`));
  const parts = [...(args === undefined ? [] : [inCode(`vault ${args}`)]), ...settings];
  return [done, parts.join(', ')].filter(Boolean).join(': ');
}

/** As code in a table, with what the placeholders stand for. */
function inCode(text: string): string {
  const shown = text
    .replaceAll('{folder}/', '')
    .replaceAll('{node}', 'https://sepolia.base.org')
    .replaceAll('{taken}', '8787')
    .replaceAll('{free}', '9999');
  return shown.includes('`') ? `\`\` ${shown.replaceAll('|', '\\|')} \`\`` : `\`${shown.replaceAll('|', '\\|')}\``;
}
