import { SETTING_NAMES } from '../../lib/config/config.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { type Arguments, flagOf, needOption, UsageError } from './arguments.ts';
import type { Command, Commands } from './command.ts';
import { zshScript } from './completions-zsh.ts';
import { flagOfOption, HELP, isOperand, option, takesValue } from './options.ts';
import { print } from './print.ts';

/** `vault completions`. */
export const completionsCommand: Command = {
  summary: 'prints a shell script that completes commands and flags',
  options: [option('SHELL', 'bash, zsh or fish'), HELP],
  usesSettings: false,
  run: async (given, all) => completions(given, await all()),
};

/**
 * Prints a shell script that completes commands and flags. It is made from the tables that parse them. Throws
 * `UsageError` for an unknown shell.
 */
function completions(given: Arguments, commands: Commands): number {
  const shell = needOption(given, 'SHELL');
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (!script) throw new UsageError(`There are no completions for ${shell}: choose ${Object.keys(SHELLS).join(', ')}.`);
  print(script(commands));
  return 0;
}

const SHELLS: Readonly<Record<string, (commands: Commands) => string>> = { bash, zsh, fish };

/** Words are looked up by what stands before them, so that a command of two words completes like any other. */
function bash(commands: Commands): string {
  const cases = Object.entries(commands).map(
    ([name, command]) => `    '${name}') flags='${flagsOf(command).join(' ')}' ;;`,
  );
  return `# bash completion of vault: source <(vault completions bash)
_vault() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" flags words
  COMPREPLY=()
  case "$previous" in
    ${fileFlags(commands).join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [[ "$current" == -* ]]; then
    flags='${flagsOf(commands['serve']).join(' ')}'
    case "$first" in
${indent(cases.filter((line) => !/^ +'\w+ \w+'/.test(line)))}
    esac
    case "$first $second" in
${indent(cases.filter((line) => /^ +'\w+ \w+'/.test(line)))}
    esac
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
    return
  fi
  words=''
  if [[ $COMP_CWORD -eq 1 ]]; then
    words='${firstWords(commands).join(' ')}'
  elif [[ $COMP_CWORD -eq 2 ]]; then
    case "$first" in
${secondWords(commands)
  .map(([first, words]) => `      ${first}) words='${words.join(' ')}' ;;`)
  .join('\n')}
      ${fileCommands(commands).join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _vault vault`;
}

function zsh(commands: Commands): string {
  return zshScript(commands, settingFlags(), Object.keys(SHELLS));
}

function fish(commands: Commands): string {
  const topLevel = Object.entries(commands)
    .filter(([name]) => !name.includes(' '))
    .map(([name, { summary }]) => `complete -c vault -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`);
  const groups = secondWords(commands).flatMap(([first, words]) => [
    ...(Object.hasOwn(commands, first) ? [] : [`complete -c vault -n __fish_use_subcommand -f -a ${first}`]),
    `complete -c vault -n '__fish_seen_subcommand_from ${first}' -f -a '${words.join(' ')}'`,
  ]);
  const flags = Object.entries(commands).flatMap(([name, { options }]) =>
    options
      .filter((one) => !isOperand(one))
      .map((one) => {
        const last = name.split(' ').at(-1);
        return `complete -c vault -n '__fish_seen_subcommand_from ${last}' -l ${one.name}${takesValue(one) ? ' -r' : ''} -d ${quoted(one.meaning)}`;
      }),
  );
  const settings = settingFlags().map(
    ([flag, meaning]) => `complete -c vault -l ${flag.slice(2)} -r -d ${quoted(meaning)}`,
  );
  return [
    `# fish completion of vault: vault completions fish | source`,
    ...topLevel,
    ...groups,
    ...flags,
    ...settings,
  ].join('\n');
}

function flagsOf(command: Command | undefined): string[] {
  const own = (command?.options ?? []).filter((one) => !isOperand(one)).map(flagOfOption);
  return [...own, ...(command?.usesSettings ? settingFlags().map(([flag]) => flag) : [])];
}

/** Every setting that has a flag, with its meaning. */
function settingFlags(): (readonly [flag: string, meaning: string])[] {
  return SETTING_NAMES.filter((name) => SETTINGS[name].kind !== 'secret').map(
    (name) => [flagOf(name), SETTINGS[name].meaning] as const,
  );
}

/** Flags whose value is a file. */
function fileFlags(commands: Commands): string[] {
  const all = Object.values(commands).flatMap(({ options }) => options);
  return [...new Set(all.filter(({ written }) => written.endsWith('<file>')).map(flagOfOption))];
}

function fileCommands(commands: Commands): string[] {
  return Object.keys(commands).filter((name) => hasOperand(commands[name], 'FILE'));
}

function hasOperand(command: Command | undefined, name: string): boolean {
  return command?.options.some((one) => one.name === name) === true;
}

function firstWords(commands: Commands): string[] {
  return [...new Set(Object.keys(commands).map((name) => name.split(' ')[0] ?? name))];
}

/** What may stand behind a first word: the second one of a command, or a shell's name. */
function secondWords(commands: Commands): [first: string, words: string[]][] {
  const pairs = Object.keys(commands).flatMap((name) => {
    const [first = '', second] = name.split(' ');
    if (hasOperand(commands[name], 'SHELL')) return Object.keys(SHELLS).map((shell) => [first, shell] as const);
    return second === undefined ? [] : [[first, second] as const];
  });
  return [...Map.groupBy(pairs, ([first]) => first)].map(([first, rest]) => [first, rest.map(([, second]) => second)]);
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
