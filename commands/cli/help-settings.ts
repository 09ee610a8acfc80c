import { closest } from '../../lib/base/closest.ts';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import { FIRST_SETTINGS, FIRST_TOPICS, START_HERE } from '../../lib/config/first-settings.ts';
import { exampleOf, type Setting } from '../../lib/config/setting.ts';
import { SETTINGS, type SettingName, SUBJECTS } from '../../lib/config/settings.ts';
import { flagOf, UsageError } from './arguments.ts';
import type { Paint } from './colour.ts';
import { typeOf } from './setting-types.ts';
import { columns, hang, wrap } from './terminal.ts';

/** How the text is written: its width, and in which styles. */
export interface Style {
  readonly width: number;
  readonly paint: Paint;
}

const HOW =
  'A setting is an environment variable, a line of the --config file and, unless it is a secret, a flag. Flags win over the environment, the environment over the file. NAME_FILE names a file that contains a secret or a URL. Lists are separated by commas. vault config shows what is in force.';

/**
 * The text of `vault help settings`: the names by group; with `topic`, all of a group, or one setting. Throws
 * `UsageError` for another topic.
 */
export function settingsHelp(topic: string | undefined, style: Style): string {
  if (topic === undefined) return overview(style);
  if (topic.toLowerCase() === 'all')
    return Object.keys(SUBJECTS)
      .flatMap((one) => groupLines(one, style))
      .join('\n');
  const name = topic.toUpperCase().replace(/^--/, '').replaceAll('-', '_');
  const setting = SETTING_NAMES.find((one) => one === name || (takesFile(one) && `${one}_FILE` === name));
  if (setting !== undefined) return settingText(setting, style);
  const group = groupOf(topic);
  if (group === START_HERE) return startLines(style).join('\n').trimEnd();
  if (group !== undefined) return groupLines(group, style).join('\n').trimEnd();
  const named = SETTING_NAMES.filter((one) => one.split('_').includes(name));
  if (named.length > 0) return named.map((one) => settingLines(one, style).join('\n')).join('\n\n');
  const near = closest(name, SETTING_NAMES) ?? closest(topic, Object.keys(GROUPS).map(firstWord));
  throw new UsageError(
    `There is no setting or group ${topic}${near === undefined ? '.' : `: did you mean ${near}?`} Try vault help settings.`,
  );
}

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  [START_HERE]: FIRST_SETTINGS,
  ...Object.fromEntries(Object.entries(SUBJECTS).map(([group, settings]) => [group, Object.keys(settings)])),
};

/** Other words for a group. */
const ALIASES: Readonly<Record<string, keyof typeof SUBJECTS>> = {
  email: 'Delivery of codes',
  mail: 'Delivery of codes',
  sms: 'Delivery of codes',
  passkeys: 'Names and origins',
  proxy: 'Listening',
};

function overview({ width, paint }: Style): string {
  const groups = Object.keys(SUBJECTS).flatMap((group) => [
    '',
    paint.bold(group),
    ...wrap(GROUPS[group]?.join(' ') ?? '', width - 2).map((line) => `  ${paint.cyan(line)}`),
  ]);
  const first = Object.values(FIRST_TOPICS).map(
    ({ title, about, names }) => [title, `${about} ${names.join(', ')}`] as const,
  );
  const more: [string, string][] = [
    ['vault help settings NAME', 'one setting, such as SMTP_URL'],
    ['vault help settings GROUP', `a group: ${Object.keys(GROUPS).map(firstWord).join(', ')}, or all`],
  ];
  const start = ['', paint.bold(`${START_HERE}: vault init asks for these`), ...columns(first, width, paint)];
  return [...wrap(HOW, width), ...start, ...groups, '', ...columns(more, width, paint)].join('\n');
}

function groupLines(group: string, style: Style): string[] {
  const names = (GROUPS[group] ?? []) as readonly SettingName[];
  return [style.paint.bold(group), '', ...names.flatMap((name) => [...settingLines(name, style), ''])];
}

/** The first settings, below what each few of them are about. */
function startLines(style: Style): string[] {
  const { width, paint } = style;
  const topics = Object.values(FIRST_TOPICS).flatMap(({ title, about, names }) => [
    paint.bold(title),
    ...wrap(about, width),
    '',
    ...names.flatMap((name) => [...settingLines(name, style), '']),
  ]);
  return [...wrap(`${START_HERE}: vault init asks for these, one after the other.`, width), '', ...topics];
}

function settingText(name: SettingName, style: Style): string {
  const { kind } = SETTINGS[name];
  const ways = [
    `the environment variable ${name}`,
    `a line ${name}=… of the --config file`,
    ...(kind === 'secret' ? [] : [`the flag ${flagOf(name)}`]),
    ...(kind === 'plain' ? [] : [`${name}_FILE with the path of a file that contains it`]),
  ];
  const shown = { plain: '', secret: ' It is never shown.', endpoint: ' Only its origin is ever shown.' }[kind];
  return [...settingLines(name, style), '', ...wrap(`Set it by ${ways.join(', or ')}.${shown}`, style.width)].join(
    '\n',
  );
}

function settingLines(name: SettingName, { width, paint }: Style): string[] {
  const setting = SETTINGS[name] as Setting;
  const { default: fallback } = setting;
  const words = typeof fallback === 'object' ? fallback.words : fallback;
  const example = exampleOf(setting);
  return [
    paint.cyan(name),
    ...wrap(setting.meaning, width - 2).map((line) => `  ${line}`),
    ...hang('  type     ', typeOf(setting), width).map(dimHead),
    ...hang('  default  ', words || 'none', width).map(dimHead),
    ...(example === undefined ? [] : [dimHead(`  example  ${name}=${quoted(example)}`)]),
  ];

  function dimHead(line: string): string {
    return line.replace(/^ {2}(?:type|default|example)/, (head) => paint.dim(head));
  }
}

/** Quoted for a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text}'`;
}

function groupOf(topic: string): string | undefined {
  const words = topic.toLowerCase();
  const names = Object.keys(GROUPS);
  const found = names.find((name) => firstWord(name) === words) ?? names.find((name) => name.toLowerCase() === words);
  return found ?? (Object.hasOwn(ALIASES, words) ? ALIASES[words] : undefined);
}

/** The name of a group on the command line: its first word that carries meaning. */
function firstWord(group: string): string {
  const words = group.toLowerCase().split(' ');
  return words.find((word) => !['what', 'is'].includes(word)) ?? group;
}

function takesFile(name: SettingName): boolean {
  return SETTINGS[name].kind !== 'plain';
}
