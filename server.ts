#!/usr/bin/env bun
import { parseArguments, UsageError } from './commands/arguments.ts';
import { helpText } from './commands/help.ts';
import { COMMANDS as ALL_BUT_HELP, type Command } from './commands/index.ts';
import { version } from './commands/version.ts';

const COMMANDS: Readonly<Record<string, Command>> = {
  ...ALL_BUT_HELP,
  help: { summary: 'prints this text', options: ['help'], usesSettings: true, run: () => help() },
};

/** Exit codes: 0 done, 1 failed, 2 asked for something it cannot do. */
async function main(argv: readonly string[]): Promise<number> {
  try {
    const given = parseArguments(
      argv,
      Object.fromEntries(Object.entries(COMMANDS).map(([name, { options }]) => [name, options])),
    );
    const isNamed = argv.join(' ').startsWith(given.command);
    if (given.options['help'] !== undefined) return help(isNamed ? given.command : undefined);
    if (given.options['version'] !== undefined) return version();
    return (await COMMANDS[given.command]?.run(given)) ?? 1;
  } catch (error) {
    console.error(`vault: ${error instanceof Error ? error.message : error}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function help(command?: string): number {
  console.log(helpText(COMMANDS, command));
  return 0;
}

process.exit(await main(process.argv.slice(2)));
