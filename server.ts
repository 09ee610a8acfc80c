#!/usr/bin/env bun
import { parseArguments, takeCommand, UsageError } from './commands/cli/arguments.ts';
import type { Command, Commands } from './commands/cli/command.ts';
import { HELP, option } from './commands/cli/options.ts';
import { print } from './commands/cli/print.ts';
import { COMMANDS as ALL_BUT_HELP, loadCommands } from './commands/index.ts';
import { isCode } from './commands/storage/durable.ts';
import { printVersion } from './commands/version.ts';

const HELP_COMMAND: Command = {
  summary: 'explains a command, or the settings',
  options: [option('TOPIC', 'a command, or settings, with the name of a setting or of a group behind it'), HELP],
  usesSettings: false,
  examples: [
    'vault help backup',
    'vault help settings',
    'vault help settings delivery',
    'vault help settings SMTP_URL',
  ],
  run: () => help(),
};

const COMMANDS = { ...ALL_BUT_HELP, help: async () => HELP_COMMAND };

/** Exit codes: 0 success, 1 failure, 2 invalid usage. */
async function main(line: readonly string[]): Promise<number> {
  // `vault help limits show` asks what `vault limits show --help` does.
  const isAsked = line[0] === 'help' && line.length > 1 && !line[1]?.startsWith('-');
  const argv = isAsked ? [...line.slice(1), '--help'] : line;
  try {
    if (isAsked && line[1] === 'settings' && line.length < 4) return say((await loadHelp()).settingsText(line[2]));
    const [first = '', ...rest] = argv;
    if (isGroup(first) && rest.length > 0 && rest.every((word) => word === '--help' || word === '-h'))
      return say((await loadHelp()).groupText(await loadAll(), first));
    const { command: name, words } = takeCommand(argv, Object.keys(COMMANDS));
    const command = await COMMANDS[name as keyof typeof COMMANDS]();
    const given = parseArguments(name, words, command.options);
    const isNamed = argv.join(' ').startsWith(given.command);
    if (given.options['help'] !== undefined) return help(isNamed ? given.command : undefined);
    if (given.options['version'] !== undefined) return printVersion();
    return await command.run(given, loadCommands);
  } catch (error) {
    // A reader that stops, as head does, has what it wanted.
    if (isCode(error, 'EPIPE')) return 1;
    const lines = `vault: ${error instanceof Error ? error.message : error}`.split('\n');
    const { oneLine } = await import('./lib/base/one-line.ts');
    console.error(lines.map(oneLine).join('\n'));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function help(command?: string): Promise<number> {
  return say((await loadHelp()).helpText(await loadAll(), command));
}

/** No start needs it. */
function loadHelp() {
  return import('./commands/cli/help.ts');
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
