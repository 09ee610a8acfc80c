import { describeSettings, type SettingView } from '../lib/config/describe.ts';
import type { Arguments } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { checkSettings, previewSettings } from './setup/settings.ts';
import { isByPerson } from './setup/vars.ts';

/** `vault config`. */
export const configCommand: Command = {
  summary: 'shows the settings in force and their sources',
  options: [option('--changed', 'only the settings that differ from their default'), CONFIG, JSON_OUTPUT, HELP],
  usesSettings: true,
  settings: [],
  examples: ['vault config --config /etc/vault/vault.env', 'vault config --changed', 'vault config --json'],
  exitCodes: '0 the vault would start, 1 failure, 2 it would not start',
  run: config,
};

/**
 * Prints every setting in force and its source, as a table or JSON. Writes nothing; exit code 2 if the vault would not
 * start.
 */
async function config(given: Arguments): Promise<number> {
  const { settings } = previewSettings(given);
  const isOnlyChanged = given.options['changed'] !== undefined;
  const shown = describeSettings(settings.vars).filter(
    ({ name, changed }) => !isOnlyChanged || (changed && isByPerson(settings.sources[name])),
  );
  const described = shown.map(({ name, value }) => ({ name, value, source: settings.sources[name] ?? 'default' }));
  printAnswer(given, described, () => (described.length === 0 ? 'Every setting has its default.' : table(described)));
  for (const warning of settings.warnings) console.error(`vault: ${warning}`);
  const { describeWarning, findWarnings, withNearMisses } = await import('./setup/warnings.ts');
  try {
    const inForce = { ...settings, config: checkSettings(settings) };
    for (const warning of findWarnings(inForce)) console.error(`vault: ${describeWarning(warning)}`);
  } catch (error) {
    throw withNearMisses(error);
  }
  return 0;
}

interface Described extends Pick<SettingView, 'name' | 'value'> {
  /** A flag, the environment, a file, `generated` or `default`. */
  readonly source: string;
}

function table(rows: readonly Described[]): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const valueWidth = Math.min(48, Math.max(...rows.map(({ value }) => value?.length ?? 1)));
  const lines = rows.map(({ name, value, source }) =>
    `${name.padEnd(nameWidth)}  ${(value ?? '–').padEnd(valueWidth)}  ${source}`.trimEnd(),
  );
  return lines.join('\n');
}
