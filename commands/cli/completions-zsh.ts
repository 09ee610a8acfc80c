import type { Command, Commands } from './command.ts';
import { type CompletedFlag, isListed, ownFlags, settingFlags } from './completed-flags.ts';
import { isOperand } from './options.ts';

type Pair = readonly [name: string, meaning: string];

/** The completion function of zsh (zshcompsys(1)): source it after compinit, or store it as `_vault` in `$fpath`. */
export function zshScript(commands: Commands): string {
  const names = Object.keys(commands);
  const groups = [...new Set(names.filter((name) => name.includes(' ')).map(firstWord))];
  return `#compdef vault
# zsh completion of vault, behind compinit: source <(vault completions zsh)
_vault_settings=(
${settingFlags()
  .map((one) => `  ${quoted(flagSpec(one))}`)
  .join('\n')}
)
_vault() {
  local -a words_of_vault
  if (( CURRENT == 2 )) && [[ "$words[2]" != -* ]]; then
    words_of_vault=(${[...new Set(names.map(firstWord))].map((word) => quoted(pair([word, commands[word]?.summary ?? secondNames(names, word)]))).join(' ')})
    _describe command words_of_vault
    return
  fi
  if (( CURRENT == 3 )) && [[ "$words[3]" != -* ]]; then
    case "$words[2]" in
${groups.map((group) => `      ${group}) words_of_vault=(${secondWords(commands, group)}); _describe command words_of_vault; return ;;`).join('\n')}
    esac
  fi
  local key="$words[2]"
  case "$key" in
    ${groups.join('|')}) key="$words[2] $words[3]"; shift words; (( CURRENT-- )) ;;
    -*) key=serve; words=(vault $words); (( CURRENT++ )) ;;
  esac
  shift words
  (( CURRENT-- ))
  case "$key" in
${Object.entries(commands)
  .map(([name, command]) => `    ${quoted(name)}) _arguments ${argumentsOf(command)} ;;`)
  .join('\n')}
  esac
}
if [[ "$funcstack[1]" == _vault ]]; then _vault "$@"; else compdef _vault vault; fi`;
}

function firstWord(name: string): string {
  return name.split(' ')[0] ?? name;
}

function secondNames(names: readonly string[], first: string): string {
  return names
    .filter((name) => name.startsWith(`${first} `))
    .map((name) => name.slice(first.length + 1))
    .join(', ');
}

function secondWords(commands: Commands, group: string): string {
  return Object.entries(commands)
    .filter(([name]) => name.startsWith(`${group} `))
    .map(([name, { summary }]) => quoted(pair([name.slice(group.length + 1), summary])))
    .join(' ');
}

function argumentsOf(command: Command): string {
  const operands = command.options.filter(isOperand).map(({ name, meaning, values }) => {
    const choice = values === undefined ? '' : `(${values.join(' ')})`;
    return `1:${described(meaning)}:${name === 'FILE' || name === 'EVIDENCE' ? '_files' : choice}`;
  });
  const specs = [...operands, ...ownFlags(command).map(flagSpec)].map(quoted);
  return [...specs, ...(command.usesSettings ? ['$_vault_settings'] : [])].join(' ');
}

/** In the form of `_arguments`. */
function flagSpec(one: CompletedFlag): string {
  const { flag, meaning, value } = one;
  if (value === 'none') return `${flag}[${described(meaning)}]`;
  const action = isListed(one) ? `(${one.value.join(' ')})` : value === 'file' ? '_files' : '';
  return `${flag}=[${described(meaning)}]:value:${action}`;
}

/** In the form of `_describe`. */
function pair([name, meaning]: Pair): string {
  return `${name}:${meaning}`;
}

/** Brackets and colons end a description. */
function described(text: string): string {
  return text.replace(/[[\]:\\]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
