import { dirname, join } from 'node:path';
import { ConfigError, readSetting, SETTING_NAMES } from '../../lib/config/config.ts';
import { FIRST_SETTINGS } from '../../lib/config/first-settings.ts';
import type { Vars } from '../../lib/config/setting.ts';
import { SETTINGS, type SettingName } from '../../lib/config/settings.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import { usageErrorOf } from '../setup/settings.ts';
import { serviceDefaults } from '../setup/settings-file.ts';
import { type Given, readVars } from '../setup/vars.ts';
import type { Interview } from './interview.ts';

/** The given settings, over those of the file that is there. */
export function readStart(given: Arguments, file: string | undefined): Given {
  const flags: Vars = { ...given.vars, ...readSets(given.options['set']) };
  return readVars(flags, process.env, file);
}

/** `--set`, once for each line. Throws `UsageError` for a name that no file may have, and for a secret. */
function readSets(lines: string | undefined): Vars {
  const vars: Record<string, string> = {};
  for (const line of lines?.split('\n') ?? []) {
    const [, name = '', file = '', value = ''] = /^([A-Z][A-Z0-9_]*?)(_FILE)?=(.*)$/.exec(line) ?? [];
    const whole = SETTING_NAMES.find((one) => one === `${name}${file}`);
    const setting = whole ?? SETTING_NAMES.find((one) => one === name);
    if (setting === undefined || (whole === undefined && SETTINGS[setting].kind === 'plain'))
      throw new UsageError(`--set takes NAME=VALUE with a setting's name; ${line.split('=')[0]} is not one.`);
    if (whole !== undefined && SETTINGS[setting].kind === 'secret')
      throw new UsageError(
        `--set ${setting} would show it to other users: set it in the environment, or --set ${setting}_FILE=path.`,
      );
    vars[`${name}${file}`] = value;
  }
  return vars;
}

/**
 * An interview that asks only for settings of the file. Throws `UsageError` for a fault in a setting that it does not
 * ask for.
 */
export function beginInterview(
  { vars, sources }: Given,
  { path, ...who }: Pick<Interview, 'dialog' | 'testTo'> & { readonly path: string },
): Interview {
  const isAsked = (name: SettingName) => FIRST_SETTINGS.includes(name) && isOfFile(sources[name] ?? '', path);
  const faults = SETTING_NAMES.flatMap((name) => {
    const reading = vars[name] === undefined || isAsked(name) ? { value: '' } : readSetting(name, vars[name]);
    return 'problem' in reading ? [{ name, problem: reading.problem }] : [];
  });
  if (faults.length > 0) throw usageErrorOf(new ConfigError(faults), sources);
  const known = Object.entries(vars).filter(([, value]) => value !== undefined) as [string, string][];
  const given = Object.fromEntries(Object.entries(sources).filter(([, source]) => !isOfFile(source, path)));
  const start = { DATA_DIR: dataFolder(path), ...Object.fromEntries(known) };
  return { ...who, vars: start, given, folder: dirname(path), files: new Map() };
}

function isOfFile(source: string, path: string): boolean {
  return source === `file ${path}`;
}

/** Where the data is, wherever the vault is started from. */
function dataFolder(path: string): string {
  return path.startsWith('/etc/') ? (serviceDefaults(false)['DATA_DIR'] ?? '') : join(dirname(path), 'vault-data');
}

/** A secret that came from a file stays there, unless the answer was another. */
export function sourcesKept({ vars: before, sources }: Given, vars: Vars): Given['sources'] {
  return Object.fromEntries(Object.entries(sources).filter(([name]) => vars[name] === before[name]));
}
