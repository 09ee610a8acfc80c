import { VERSION } from '../lib/base/version.ts';
import type { Command } from './cli/command.ts';
import { HELP } from './cli/options.ts';
import { print } from './cli/print.ts';

/** `vault version`. */
export const versionCommand: Command = {
  summary: 'prints the release',
  options: [HELP],
  usesSettings: false,
  run: printVersion,
};

/** Prints the release. */
export function printVersion(): number {
  print(`vault ${VERSION}`);
  return 0;
}
