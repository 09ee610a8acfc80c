import { SETTING_NAMES } from '../../lib/config/config.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { flagOf } from './arguments.ts';
import type { Command, Commands } from './command.ts';
import { flagOfOption, isOperand, type Option, takesValue } from './options.ts';
import { valuesOfSetting } from './setting-types.ts';

/** A flag as a shell completes it: nothing behind it, any text, a file, or one of some words. */
export interface CompletedFlag {
  readonly flag: string;
  readonly meaning: string;
  readonly value: 'none' | 'any' | 'file' | readonly string[];
}

/** The flags of the command itself. */
export function ownFlags({ options }: Pick<Command, 'options'>): CompletedFlag[] {
  return options
    .filter((one) => !isOperand(one))
    .map((one) => ({ flag: flagOfOption(one), meaning: one.meaning, value: completedValue(one) }));
}

/** Every setting that has a flag. */
export function settingFlags(): CompletedFlag[] {
  return SETTING_NAMES.filter((name) => SETTINGS[name].kind !== 'secret').map((name) => ({
    flag: flagOf(name),
    meaning: SETTINGS[name].meaning,
    value: valuesOfSetting(name) ?? 'any',
  }));
}

/** Every flag, once: a flag means the same to all commands that have it. */
export function everyFlag(commands: Commands): CompletedFlag[] {
  const all = [...Object.values(commands).flatMap(ownFlags), ...settingFlags()];
  return [...new Map(all.map((one) => [one.flag, one])).values()];
}

/** Whether a value is one of some words. */
export function isListed(one: CompletedFlag): one is CompletedFlag & { readonly value: readonly string[] } {
  return typeof one.value === 'object';
}

/** The words that may follow a first word: the second one of a command, or those of its operand. */
export function secondWords(commands: Commands): [first: string, words: readonly string[]][] {
  const pairs = Object.entries(commands).flatMap(([name, { options }]) => {
    const [first = '', second] = name.split(' ');
    if (second !== undefined) return [[first, second] as const];
    return options.filter(isOperand).flatMap(({ values = [] }) => values.map((word) => [first, word] as const));
  });
  return [...Map.groupBy(pairs, ([first]) => first)].map(([first, rest]) => [first, rest.map(([, second]) => second)]);
}

/** The first words of all commands, each once. */
export function firstWords(commands: Commands): string[] {
  return [...new Set(Object.keys(commands).map((name) => name.split(' ')[0] ?? name))];
}

function completedValue(one: Option): CompletedFlag['value'] {
  if (!takesValue(one)) return 'none';
  return one.values ?? (one.written.endsWith('<file>') ? 'file' : 'any');
}
