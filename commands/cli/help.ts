import { once } from '../../lib/base/once.ts';
import { VERSION } from '../../lib/base/version.ts';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import type { Setting } from '../../lib/config/setting.ts';
import { SUBJECTS } from '../../lib/config/settings.ts';
import { flagOf } from './arguments.ts';
import type { Command, Commands } from './command.ts';
import { CONFIG, HELP, isOperand, type Option, VERSION_FLAG } from './options.ts';

const EXIT_CODES = '0 success, 1 failure, 2 invalid usage';

/** The help for one command, or for the whole program. */
export function helpText(commands: Commands, name?: string): string {
  const command = name === undefined ? undefined : commands[name];
  const head = command ? [`vault ${nameWithOperands(name, command)}: ${command.summary}`] : overview(commands);
  const ends = ['', `Exit codes: ${command?.exitCodes ?? EXIT_CODES}.`];
  const options = optionLines(command?.options ?? [CONFIG, HELP, VERSION_FLAG], commands);
  const settings = command && !command.usesSettings ? [] : settingLines();
  const notes = (command?.notes ?? []).flatMap((note) => ['', note]);
  return [...head, ...notes, ...ends, '', 'Flags', ...options, ...settings].join('\n');
}

/** The help for a first word that several commands begin with, such as `limits`. */
export function groupText(commands: Commands, first: string): string {
  const own = Object.entries(commands).filter(([name]) => name.startsWith(`${first} `));
  return [...rows(own), '', `Run vault ${own[0]?.[0]} --help for details.`].join('\n');
}

function overview(commands: Commands): string[] {
  return [
    `vault ${VERSION}: registration and identity over HTTP`,
    '',
    'Usage: vault [command] [flags]',
    '',
    ...rows(Object.entries(commands)),
    '',
    'Run vault help <command> for details.',
  ];
}

function rows(commands: readonly (readonly [name: string, command: Command])[]): string[] {
  const cells = commands.map(([name, command]) => [nameWithOperands(name, command), command.summary] as const);
  const width = Math.max(...cells.map(([name]) => name.length)) + 2;
  return cells.map(([name, summary]) => `  ${name.padEnd(width)}${summary}`);
}

function nameWithOperands(name: string | undefined, { options }: Command): string {
  return [name, ...options.filter(isOperand).map((one) => one.name)].join(' ');
}

function settingLines(): string[] {
  const subjects = Object.entries<Readonly<Record<string, Setting>>>(SUBJECTS);
  return [
    '',
    'Settings: each is an environment variable, a line of the --config file and, except for secrets, a flag.',
    'NAME_FILE names a file that contains a secret or a URL. Lists are separated by commas.',
    ...subjects.flatMap(([subject, settings]) => [
      '',
      subject,
      ...Object.entries(settings).map(([name, setting]) => settingLine(name, setting)),
    ]),
  ];
}

/** As wide as the widest of all commands, so that each help looks alike. */
function optionLines(options: readonly Option[], commands: Commands): string[] {
  const all = Object.values(commands).flatMap((command) => command.options);
  const width = Math.max(...all.map(({ written }) => written.length)) + 2;
  return options.map(({ written, meaning }) => `  ${written.padEnd(width)}${meaning}`);
}

const nameWidth = once(() => Math.max(...SETTING_NAMES.map((name) => flagOf(name).length)) + 2);

function settingLine(name: string, { kind, meaning, default: fallback }: Setting): string {
  const label = kind === 'secret' ? name : flagOf(name);
  const words = typeof fallback === 'object' ? fallback.words : fallback;
  return `  ${label.padEnd(nameWidth())}${meaning}${words ? ` [${words}]` : ''}`;
}
