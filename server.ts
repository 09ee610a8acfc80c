#!/usr/bin/env bun
import { type Arguments, parseArguments, UsageError } from './commands/arguments.ts';
import { config } from './commands/config.ts';
import { type Described, helpText } from './commands/help.ts';
import { migrate } from './commands/migrate.ts';
import { serve } from './commands/serve.ts';
import { version } from './commands/version.ts';

interface Command extends Described {
  /** Resolves with the exit code. */
  readonly run: (given: Arguments) => number | Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'runs the vault (the default)',
    options: ['config', 'help', 'version'],
    usesSettings: true,
    run: serve,
  },
  config: {
    summary: 'shows the settings in force and where they came from',
    options: ['config', 'json', 'help'],
    usesSettings: true,
    run: config,
  },
  migrate: {
    summary: "brings the database's tables up to date",
    options: ['config', 'dry-run', 'help'],
    usesSettings: true,
    run: migrate,
  },
  'contracts deploy': {
    summary: "deploys the contracts to RPC_URL's chain, paid with DEPLOYER_PRIVATE_KEY, and prints the settings to use",
    options: ['config', 'owner', 'registrar', 'dry-run', 'json', 'help'],
    usesSettings: true,
    // Its creation code and cryptography are nothing that every start should load.
    run: async (given) => (await import('./commands/contracts.ts')).deployContracts(given),
  },
  version: { summary: 'prints the release', options: ['help'], usesSettings: false, run: version },
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
