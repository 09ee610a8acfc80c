import { closest } from '../../lib/base/closest.ts';
import { SETTING_NAMES } from '../../lib/config/config.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { flagOfOption, isOperand, type Option, takesValue } from './options.ts';

/** Invalid usage: a wrong command line, or a wrong file that it names. The message never contains a value. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command line taken apart: `vars` are settings given as flags, `options` the command's own flags and operands. */
export interface Arguments {
  readonly command: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, string>>;
}

const SHORT: Readonly<Record<string, string>> = { '-h': '--help', '-v': '--version', '-V': '--version' };

/** The command that a command line begins with, one of `names`, and the words behind it. Throws `UsageError`. */
export function takeCommand(argv: readonly string[], names: readonly string[]): { command: string; words: string[] } {
  const [first, second] = argv;
  if (first === undefined || first.startsWith('-')) return { command: 'serve', words: [...argv] };
  const count = names.includes(`${first} ${second}`) ? 2 : 1;
  const command = argv.slice(0, count).join(' ');
  if (!names.includes(command)) throw unknown('command', command, names);
  return { command, words: argv.slice(count) };
}

/** Takes the words behind a command apart, by the flags and operands of its own. Throws `UsageError`. */
export function parseArguments(command: string, argv: readonly string[], own: readonly Option[]): Arguments {
  const words = [...argv];
  const taken = { vars: {} as Record<string, string>, options: {} as Record<string, string> };
  let last = `vault ${command}`;
  while (words.length > 0) {
    const word = words.shift() as string;
    if (takeOperand(taken.options, own, word)) continue;
    const [flag = '', ...rest] = (SHORT[word] ?? word).split('=');
    const inline = rest.length > 0 ? rest.join('=') : undefined;
    if (!flag.startsWith('--')) throw stray(flag, last);
    last = flag;
    takeFlag(taken, own, flag, inline, words);
  }
  return { command, ...taken };
}

/** The value of the command's operand or flag. Throws `UsageError` if it is absent. */
export function needOption({ command, options }: Arguments, name: string): string {
  const text = options[name];
  if (text === undefined) throw new UsageError(`vault ${command} needs ${/^[A-Z]/.test(name) ? name : `--${name}`}.`);
  return text;
}

/** The flag of a setting. */
export function flagOf(name: string): string {
  return `--${name.toLowerCase().replaceAll('_', '-')}`;
}

/** A word that is not a flag becomes the command's next operand. */
function takeOperand(options: Record<string, string>, own: readonly Option[], word: string): boolean {
  const operand = own.find((one) => isOperand(one) && options[one.name] === undefined);
  // A dash alone is an operand: standard input.
  if ((word.startsWith('-') && word !== '-') || word === '' || operand === undefined) return false;
  options[operand.name] = word;
  return true;
}

function takeFlag(
  { vars, options }: { vars: Record<string, string>; options: Record<string, string> },
  own: readonly Option[],
  flag: string,
  inline: string | undefined,
  words: string[],
): void {
  const option = own.find((one) => !isOperand(one) && flagOfOption(one) === flag);
  const setting = SETTING_NAMES.find((name) => flagOf(name) === flag);
  if (!option && !setting) throw unknownFlag(flag, own);
  if (setting && SETTINGS[setting].kind === 'secret')
    throw new UsageError(
      `${flag} is not a flag, because other users can read a command line: set ${setting}, or ${setting}_FILE to a file that contains it.`,
    );
  const [bag, name] = setting ? [vars, setting] : [options, flag.slice(2)];
  const before = bag[name];
  if (before !== undefined && option?.isRepeated !== true) throw new UsageError(`${flag} is given twice.`);
  const isFollowed = setting ? !isSwitch(setting) : option !== undefined && takesValue(option);
  if (!isFollowed && !setting && inline !== undefined) throw new UsageError(`${flag} takes no value.`);
  const value = isFollowed ? takeValue(flag, inline, words) : (inline ?? 'true');
  bag[name] = before === undefined ? value : `${before}\n${value}`;
}

/** A word that is not a flag may be a secret, so the message names the word before it. */
function stray(word: string, before: string): UsageError {
  const name = word.startsWith('-') ? ` ${word}` : '';
  const flags = 'flags look like --port 8787, switches like --webhook-allow-private or --webhook-allow-private=false';
  return new UsageError(`Unexpected argument${name} after ${before}: ${flags}. Try vault --help.`);
}

function takeValue(flag: string, inline: string | undefined, words: string[]): string {
  const value = inline ?? (words[0]?.startsWith('--') ? undefined : words.shift());
  if (value === undefined || value.trim() === '') throw new UsageError(`${flag} needs a value.`);
  return value;
}

/** Whether the setting is true or false, so that its bare flag means true. */
function isSwitch(name: keyof typeof SETTINGS): boolean {
  return SETTINGS[name].default === 'true' || SETTINGS[name].default === 'false';
}

function unknownFlag(flag: string, own: readonly Option[]): UsageError {
  const flags = SETTING_NAMES.filter((name) => SETTINGS[name].kind !== 'secret').map(flagOf);
  return unknown('flag', flag, [...flags, ...own.filter((one) => !isOperand(one)).map(flagOfOption)]);
}

function unknown(kind: string, given: string, known: readonly string[]): UsageError {
  const longer = known.filter((name) => name.startsWith(`${given} `));
  if (longer.length > 1)
    return new UsageError(`vault ${given} needs a second word: ${longer.join(', ')}. Try vault --help.`);
  const near = longer[0] ?? closest(given, known);
  return new UsageError(
    `Unknown ${kind} ${given}${near === undefined ? '.' : `: did you mean ${near}?`} Try vault --help.`,
  );
}
