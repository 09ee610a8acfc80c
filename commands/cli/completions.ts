import { type Arguments, needOption, UsageError } from './arguments.ts';
import type { Command, Commands } from './command.ts';
import {
  type CompletedFlag,
  everyFlag,
  firstWords,
  isListed,
  ownFlags,
  secondWords,
  settingFlags,
} from './completed-flags.ts';
import { powershellScript } from './completions-powershell.ts';
import { zshScript } from './completions-zsh.ts';
import { HELP, option } from './options.ts';
import { print } from './print.ts';

const SHELLS: Readonly<Record<string, (commands: Commands) => string>> = {
  bash,
  zsh: zshScript,
  fish,
  powershell: powershellScript,
};

/** `vault completions`. */
export const completionsCommand: Command = {
  summary: 'prints a script by which a shell completes lines',
  options: [option('SHELL', 'bash, zsh, fish or powershell', Object.keys(SHELLS)), HELP],
  usesSettings: false,
  examples: [
    'source <(vault completions bash)',
    'source <(vault completions zsh)',
    'vault completions fish | source',
    'vault completions powershell | Out-String | Invoke-Expression',
  ],
  run: async (given, all) => completions(given, await all()),
};

/**
 * Prints a shell script that completes commands, flags and the values of flags that have some words for one. It is made
 * from the tables that parse them. Throws `UsageError` for an unknown shell.
 */
function completions(given: Arguments, commands: Commands): number {
  const shell = needOption(given, 'SHELL');
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (!script) throw new UsageError(`There are no completions for ${shell}: choose ${Object.keys(SHELLS).join(', ')}.`);
  print(script(commands));
  return 0;
}

/** Words are looked up by those before them, so that a command of two words completes like any other. */
function bash(commands: Commands): string {
  const every = everyFlag(commands);
  const files = every.filter(({ value }) => value === 'file').map(({ flag }) => flag);
  const cases = Object.entries(commands).map(
    ([name, command]) => `    '${name}') flags='${flagsOf(command).join(' ')}' ;;`,
  );
  return `# bash completion of vault: source <(vault completions bash)
_vault() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" flags words
  COMPREPLY=()
  # bash splits --flag=value at the equals sign.
  if [[ "$current" == = ]]; then current=''; elif [[ "$previous" == = ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  case "$previous" in
    ${files.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
${every
  .filter(isListed)
  .map(({ flag, value }) => `    ${flag}) COMPREPLY=($(compgen -W '${value.join(' ')}' -- "$current")); return ;;`)
  .join('\n')}
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

function fish(commands: Commands): string {
  const topLevel = Object.entries(commands)
    .filter(([name]) => !name.includes(' '))
    .map(([name, { summary }]) => `complete -c vault -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`);
  const groups = secondWords(commands).flatMap(([first, words]) => [
    ...(Object.hasOwn(commands, first) ? [] : [`complete -c vault -n __fish_use_subcommand -f -a ${first}`]),
    `complete -c vault -n '__fish_seen_subcommand_from ${first}' -f -a '${words.join(' ')}'`,
  ]);
  const flags = Object.entries(commands).flatMap(([name, command]) =>
    ownFlags(command).map((one) => fishFlag(one, ` -n '__fish_seen_subcommand_from ${name.split(' ').at(-1)}'`)),
  );
  return [
    '# fish completion of vault: vault completions fish | source',
    ...topLevel,
    ...groups,
    ...flags,
    ...settingFlags().map((one) => fishFlag(one, '')),
  ].join('\n');
}

function fishFlag(one: CompletedFlag, condition: string): string {
  const { flag, meaning, value } = one;
  const values = isListed(one) ? ` -x -a '${one.value.join(' ')}'` : value === 'none' ? '' : ' -r';
  return `complete -c vault${condition} -l ${flag.slice(2)}${values} -d ${quoted(meaning)}`;
}

function flagsOf(command: Command | undefined): string[] {
  if (!command) return [];
  return [...ownFlags(command), ...(command.usesSettings ? settingFlags() : [])].map(({ flag }) => flag);
}

function fileCommands(commands: Commands): string[] {
  return Object.keys(commands).filter((name) => commands[name]?.options.some((one) => one.name === 'FILE'));
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
