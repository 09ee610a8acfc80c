import { VERSION } from '../../lib/base/version.ts';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import type { Setting } from '../../lib/config/setting.ts';
import { SUBJECTS } from '../../lib/config/settings.ts';
import { flagOf } from './arguments.ts';
import { isOperand, OPTIONS } from './options.ts';

/** What the help says of a command. */
export interface Described {
  readonly summary: string;
  /** The command's own flags and operands, by their names in `OPTIONS`. */
  readonly options: readonly string[];
  /** Whether it reads the settings, so that they are flags of it too. */
  readonly usesSettings: boolean;
  /** What its own help says besides, a paragraph each. */
  readonly notes?: readonly string[];
  /** What it ends with, where that says more than `EXIT_CODES`. */
  readonly exitCodes?: string;
}

const EXIT_CODES = '0 success, 1 failure, 2 invalid usage';

/** The help for one command, or for the whole program. */
export function helpText(commands: Readonly<Record<string, Described>>, name?: string): string {
  const command = name === undefined ? undefined : commands[name];
  const head = command ? [`vault ${nameWithOperands(name, command)}: ${command.summary}`] : overview(commands);
  const ends = ['', `Exit codes: ${command?.exitCodes ?? EXIT_CODES}.`];
  const options = (command?.options ?? ['config', 'help', 'version']).map(optionLine);
  const settings = command && !command.usesSettings ? [] : settingLines();
  const notes = (command?.notes ?? []).flatMap((note) => ['', note]);
  return [...head, ...notes, ...ends, '', 'Flags', ...options, ...settings].join('\n');
}

/** The help for a first word that several commands begin with, such as `limits`. */
export function groupText(commands: Readonly<Record<string, Described>>, first: string): string {
  const own = Object.entries(commands).filter(([name]) => name.startsWith(`${first} `));
  return [...rows(own), '', `Run vault ${own[0]?.[0]} --help for details.`].join('\n');
}

function overview(commands: Readonly<Record<string, Described>>): string[] {
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

function rows(commands: readonly (readonly [name: string, command: Described])[]): string[] {
  const cells = commands.map(([name, command]) => [nameWithOperands(name, command), command.summary] as const);
  const width = Math.max(...cells.map(([name]) => name.length)) + 2;
  return cells.map(([name, summary]) => `  ${name.padEnd(width)}${summary}`);
}

function nameWithOperands(name: string | undefined, { options }: Described): string {
  return [name, ...options.filter(isOperand)].join(' ');
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

function optionLine(option: string): string {
  const [flag, meaning] = OPTIONS[option] ?? [`--${option}`, ''];
  return `  ${flag.padEnd(OPTION_WIDTH)}${meaning}`;
}

const OPTION_WIDTH = Math.max(...Object.values(OPTIONS).map(([flag]) => flag.length)) + 2;
const NAME_WIDTH = Math.max(...SETTING_NAMES.map((name) => flagOf(name).length)) + 2;

function settingLine(name: string, { kind, meaning, default: fallback }: Setting): string {
  const label = kind === 'secret' ? name : flagOf(name);
  const words = typeof fallback === 'object' ? fallback.words : fallback;
  return `  ${label.padEnd(NAME_WIDTH)}${meaning}${words ? ` [${words}]` : ''}`;
}
