import { effectiveVars, SETTING_NAMES } from '../lib/config/config.ts';
import { maskSetting } from '../lib/config/setting.ts';
import { SETTINGS } from '../lib/config/settings.ts';
import type { Arguments } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { checkSettings, previewSettings } from './setup/settings.ts';
import { type Given, isByPerson } from './setup/vars.ts';

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

/** A setting in force, masked if secret; `value` is null if it is unset. */
export interface DescribedSetting {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
}

/**
 * Prints every setting in force and its source, as a table or JSON. Writes nothing; exit code 2 if the vault would not
 * start.
 */
async function config(given: Arguments): Promise<number> {
  const { settings } = previewSettings(given);
  const all = describeConfig(settings);
  const isOnlyChanged = given.options['changed'] !== undefined;
  const described = isOnlyChanged ? all.filter(({ name }) => isChanged(settings, name)) : all;
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

/**
 * Every setting with its source: a flag, the environment, a file, `generated` or `default`. Secrets are masked; URLs
 * that may contain a key are cut to their origin.
 */
export function describeConfig({ vars, sources }: Pick<Given, 'vars' | 'sources'>): readonly DescribedSetting[] {
  const effective = effectiveVars(vars);
  return SETTING_NAMES.map((name) => {
    const text = effective[name] ?? '';
    const value = text === '' ? null : maskSetting(SETTINGS[name], text);
    return { name, value, source: sources[name] ?? 'default' };
  });
}

/** Whether a person gave the setting a value that its default is not. */
function isChanged({ vars, sources }: Pick<Given, 'vars' | 'sources'>, name: string): boolean {
  if (!isByPerson(sources[name])) return false;
  return effectiveVars(vars)[name] !== effectiveVars({ ...vars, [name]: undefined })[name];
}

function table(rows: readonly DescribedSetting[]): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const valueWidth = Math.min(48, Math.max(...rows.map(({ value }) => value?.length ?? 1)));
  const lines = rows.map(({ name, value, source }) =>
    `${name.padEnd(nameWidth)}  ${(value ?? '–').padEnd(valueWidth)}  ${source}`.trimEnd(),
  );
  return lines.join('\n');
}
