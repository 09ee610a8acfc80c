#!/usr/bin/env bun
import { parseArguments, UsageError } from './commands/cli/arguments.ts';
import { groupText, helpText } from './commands/cli/help.ts';
import { print } from './commands/cli/print.ts';
import { COMMANDS as ALL_BUT_HELP, type Command } from './commands/index.ts';
import { isCode } from './commands/storage/durable.ts';
import { version } from './commands/version.ts';

const COMMANDS: Readonly<Record<string, Command>> = {
  ...ALL_BUT_HELP,
  help: { summary: 'prints this text', options: ['help'], usesSettings: true, run: () => help() },
};

/** Exit codes: 0 success, 1 failure, 2 invalid usage. */
async function main(words: readonly string[]): Promise<number> {
  // `vault help limits show` asks what `vault limits show --help` does.
  const argv = words[0] === 'help' && words.length > 1 ? [...words.slice(1), '--help'] : words;
  try {
    const [first = '', ...rest] = argv;
    if (isGroup(first) && rest.length > 0 && rest.every((word) => word === '--help' || word === '-h'))
      return say(groupText(COMMANDS, first));
    const given = parseArguments(
      argv,
      Object.fromEntries(Object.entries(COMMANDS).map(([name, { options }]) => [name, options])),
    );
    const isNamed = argv.join(' ').startsWith(given.command);
    if (given.options['help'] !== undefined) return help(isNamed ? given.command : undefined);
    if (given.options['version'] !== undefined) return version();
    return (await COMMANDS[given.command]?.run(given)) ?? 1;
  } catch (error) {
    // Who reads no further, as head does, has what was wanted.
    if (isCode(error, 'EPIPE')) return 1;
    console.error(`vault: ${error instanceof Error ? error.message : error}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function help(command?: string): number {
  return say(helpText(COMMANDS, command));
}

function say(text: string): number {
  print(text);
  return 0;
}

/** Whether several commands begin with the word, and none is it. */
function isGroup(word: string): boolean {
  return !Object.hasOwn(COMMANDS, word) && Object.keys(COMMANDS).some((name) => name.startsWith(`${word} `));
}

process.exit(await main(process.argv.slice(2)));
