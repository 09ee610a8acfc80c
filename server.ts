#!/usr/bin/env bun
import { parseArguments, takeCommand, UsageError } from './commands/cli/arguments.ts';
import type { Command, Commands } from './commands/cli/command.ts';
import { groupText, helpText } from './commands/cli/help.ts';
import { HELP } from './commands/cli/options.ts';
import { print } from './commands/cli/print.ts';
import { COMMANDS as ALL_BUT_HELP, loadCommands } from './commands/index.ts';
import { isCode } from './commands/storage/durable.ts';
import { printVersion } from './commands/version.ts';

const HELP_COMMAND: Command = {
  summary: 'prints this text',
  options: [HELP],
  usesSettings: true,
  run: () => help(),
};

const COMMANDS = { ...ALL_BUT_HELP, help: async () => HELP_COMMAND };

/** Exit codes: 0 success, 1 failure, 2 invalid usage. */
async function main(line: readonly string[]): Promise<number> {
  // `vault help limits show` asks what `vault limits show --help` does.
  const argv = line[0] === 'help' && line.length > 1 ? [...line.slice(1), '--help'] : line;
  try {
    const [first = '', ...rest] = argv;
    if (isGroup(first) && rest.length > 0 && rest.every((word) => word === '--help' || word === '-h'))
      return say(groupText(await loadAll(), first));
    const { command: name, words } = takeCommand(argv, Object.keys(COMMANDS));
    const command = await COMMANDS[name as keyof typeof COMMANDS]();
    const given = parseArguments(name, words, command.options);
    const isNamed = argv.join(' ').startsWith(given.command);
    if (given.options['help'] !== undefined) return help(isNamed ? given.command : undefined);
    if (given.options['version'] !== undefined) return printVersion();
    return await command.run(given, loadCommands);
  } catch (error) {
    // Who reads no further, as head does, has what was wanted.
    if (isCode(error, 'EPIPE')) return 1;
    console.error(`vault: ${error instanceof Error ? error.message : error}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function help(command?: string): Promise<number> {
  return say(helpText(await loadAll(), command));
}

async function loadAll(): Promise<Commands> {
  return { ...(await loadCommands()), help: HELP_COMMAND };
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
