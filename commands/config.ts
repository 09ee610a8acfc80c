import { effectiveVars, SETTING_NAMES } from '../lib/config/config.ts';
import { maskSetting } from '../lib/config/setting.ts';
import { SETTINGS } from '../lib/config/settings.ts';
import type { Arguments } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, HELP, JSON_OUTPUT } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { checkSettings, previewSettings } from './setup/settings.ts';
import type { Given } from './setup/vars.ts';

/** `vault config`. */
export const configCommand: Command = {
  summary: 'shows the settings in force and their sources',
  options: [CONFIG, JSON_OUTPUT, HELP],
  usesSettings: true,
  settings: [],
  examples: ['vault config --config /etc/vault/vault.env', 'vault config --json'],
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
  const described = describeConfig(settings);
  printAnswer(given, described, () => table(described));
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

function table(rows: readonly DescribedSetting[]): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const valueWidth = Math.min(48, Math.max(...rows.map(({ value }) => value?.length ?? 1)));
  const lines = rows.map(({ name, value, source }) =>
    `${name.padEnd(nameWidth)}  ${(value ?? '–').padEnd(valueWidth)}  ${source}`.trimEnd(),
  );
  return lines.join('\n');
}
