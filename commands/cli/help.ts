import { VERSION } from '../../lib/base/version.ts';
import type { Setting } from '../../lib/config/setting.ts';
import { SETTINGS, type SettingName } from '../../lib/config/settings.ts';
import { flagOf } from './arguments.ts';
import { createPaint, isColourful } from './colour.ts';
import type { Command, Commands } from './command.ts';
import { type Style, settingsHelp } from './help-settings.ts';
import { CONFIG, HELP, isOperand, VERSION_FLAG } from './options.ts';
import { columns, widthOf, wrap } from './terminal.ts';

const EXIT_CODES = '0 success, 1 failure, 2 invalid usage';

const EXAMPLES: readonly (readonly [line: string, what: string])[] = [
  ['vault init', 'asks what it needs, and writes its settings'],
  ['vault serve --config vault.env', 'runs it with the settings of a file'],
  ['vault doctor --config vault.env', 'says what is wrong, and what to do'],
];

/** How much of the width a command line may take beside its words. */
const EXAMPLE_SHARE = 0.45;

/** Summaries of the commands that share a first word. */
const GROUPS: Readonly<Record<string, string>> = {
  clock: "confirms this machine's time",
  contracts: 'deploys the contracts',
  invites: 'makes and lists invites, revokes one',
  keys: 'replaces the keys that attest',
  limits: 'shows the limits in use, resets one',
  clients: 'lists the apps of CLIENTS, makes their secrets',
  operators: 'names operators, and ends their tokens',
  person: "shows, exports and erases a person's stored data",
  recoveries: 'lists recoveries of accounts, cancels one',
  registrations: 'finds the registrations of a person, undoes one',
  service: 'writes the files of a service and its proxy',
  token: 'makes and revokes tokens of event streams',
  webhooks: 'lists webhooks, sends one again',
};

/** The help for one command, or for the whole program. */
export function helpText(commands: Commands, name?: string): string {
  const style = styleOf();
  const command = name === undefined ? undefined : commands[name];
  const lines = command && name !== undefined ? commandLines(name, command, style) : overview(commands, style);
  return lines.join('\n');
}

/** The help for a first word that several commands begin with, such as `limits`. */
export function groupText(commands: Commands, first: string): string {
  const { width, paint } = styleOf();
  const own = Object.entries(commands).filter(([name]) => name.startsWith(`${first} `));
  const rows = own.map(([name, command]) => [nameWithOperands(name, command), command.summary] as const);
  return [...columns(rows, width, paint), '', `vault ${own[0]?.[0]} --help says more.`].join('\n');
}

/** The help for the settings, for a group or one of them. Throws `UsageError` for any other topic. */
export function settingsText(topic: string | undefined): string {
  return settingsHelp(topic, styleOf());
}

function styleOf(): Style {
  return { width: widthOf(), paint: createPaint(isColourful()) };
}

function overview(commands: Commands, { width, paint }: Style): string[] {
  return [
    `${paint.bold(`vault ${VERSION}`)}: registration and identity over HTTP`,
    '',
    'Usage: vault [command] [flags]',
    '',
    paint.bold('Examples'),
    ...columns(EXAMPLES, width, paint, EXAMPLE_SHARE),
    '',
    paint.bold('Commands'),
    ...columns(firstWords(commands), width, paint),
    '',
    ...wrap('vault help COMMAND and vault help settings say more. vault alone is vault serve.', width),
  ];
}

/** A line for each first word. */
function firstWords(commands: Commands): [name: string, summary: string][] {
  const groups = Map.groupBy(Object.entries(commands), ([name]) => name.split(' ')[0] ?? name);
  return [...groups].map(([first, all]) => {
    const seconds = all.map(([name]) => name.split(' ')[1]).filter((word) => word !== undefined);
    const own = all.find(([name]) => name === first)?.[1].summary.replace(/[;,].*/, '');
    const summary = own ?? GROUPS[first] ?? all[0]?.[1].summary ?? '';
    return [seconds.length === 0 ? first : `${first} ${seconds.join('|')}`, summary];
  });
}

function commandLines(name: string, command: Command, { width, paint }: Style): string[] {
  const { summary, examples = [], notes = [], exitCodes = EXIT_CODES } = command;
  const options = command.options.length > 0 ? command.options : [CONFIG, HELP, VERSION_FLAG];
  const flags = options.map(({ written, meaning }) => [written, meaning] as const);
  return [
    ...wrap(`vault ${nameWithOperands(name, command)}: ${summary}`, width),
    ...notes.flatMap((note) => ['', ...wrap(note, width)]),
    ...(examples.length > 0 ? ['', paint.bold('Examples'), ...examples.map((line) => `  ${paint.cyan(line)}`)] : []),
    '',
    paint.bold('Flags'),
    ...columns(flags, width, paint),
    ...(command.usesSettings ? settingLines(command.settings ?? [], { width, paint }) : []),
    '',
    ...wrap(`Exit codes: ${exitCodes}.`, width),
  ];
}

/** The settings that the command reads, and where the others are. */
function settingLines(names: readonly SettingName[], { width, paint }: Style): string[] {
  const rows = names.map((name) => {
    const { kind, meaning, default: fallback }: Setting = SETTINGS[name];
    const words = typeof fallback === 'object' ? fallback.words : fallback;
    return [kind === 'secret' ? name : flagOf(name), `${meaning}${words ? ` [${words}]` : ''}`] as const;
  });
  const all = 'vault help settings lists all settings, vault help settings NAME explains one.';
  return [
    '',
    paint.bold('Settings'),
    ...columns(rows, width, paint),
    ...(rows.length > 0 ? [''] : []),
    ...wrap(`  ${all}`, width),
  ];
}

function nameWithOperands(name: string, { options }: Command): string {
  return [name, ...options.filter(isOperand).map((one) => one.name)].join(' ');
}
