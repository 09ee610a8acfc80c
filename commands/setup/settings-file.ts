import { FIRST_SETTINGS, FIRST_TOPICS } from '../../lib/config/first-settings.ts';
import { exampleOf, maskSetting, type Setting, type Vars } from '../../lib/config/setting.ts';
import { SETTINGS, type SettingName } from '../../lib/config/settings.ts';
import { wrap } from '../cli/terminal.ts';
import type { Given } from './vars.ts';

/** The settings of a service beyond the defaults. */
export function serviceDefaults(hasProxy: boolean): Vars {
  return {
    DATA_DIR: '/var/lib/vault',
    ADMIN_PORT: '8790',
    ...(hasProxy ? { TRUSTED_PROXIES: '127.0.0.1/32,::1/128' } : {}),
  };
}

/**
 * The text of a settings file: the first settings under what they are about, as examples where they are not given, then
 * what else was given. A secret that came from a file stays there.
 */
export function settingsFile({ vars, sources }: Pick<Given, 'vars' | 'sources'>): string {
  const lineFor = (name: string) => {
    const value = vars[name];
    return value === undefined ? exampleLine(name as SettingName) : lineOf(name, value, sources[name]);
  };
  const topics = Object.values(FIRST_TOPICS).map(({ about, names }) =>
    [...wrap(about, COLUMNS).map((line) => `# ${line}`), ...names.map(lineFor)].join('\n'),
  );
  const first: readonly string[] = FIRST_SETTINGS;
  const others = Object.keys(vars).filter((name) => vars[name] !== undefined && !first.includes(name));
  const rest = others.length === 0 ? [] : [['# Further settings.', ...others.map(lineFor)].join('\n')];
  return `${[HEAD, ...topics, ...rest].join('\n\n')}\n`;
}

/** The text of `settingsFile` without secrets, to be shown. */
export function shownSettingsFile({ vars, sources }: Pick<Given, 'vars' | 'sources'>): string {
  const shown = Object.entries(vars).map(([name, value = '']) => [
    name,
    maskSetting(SETTINGS[name as SettingName], value),
  ]);
  return settingsFile({ vars: Object.fromEntries(shown), sources });
}

const COLUMNS = 110;

const HEAD = `# Settings of the vault, one NAME=value a line, read at its start. A line that begins with # sets nothing.
# All settings: vault help settings, or docs/settings.md. What is in force: vault config --config FILE. What is missing
# or does not work: vault doctor --config FILE. NAME_FILE=path names a file with a secret, for the vault's user alone.`;

function exampleLine(name: SettingName): string {
  const setting: Setting = SETTINGS[name];
  const inFile = `#${name}_FILE=/etc/vault/${name.toLowerCase().replaceAll('_', '-')}`;
  return setting.kind === 'secret' ? inFile : `#${name}=${exampleOf(setting) ?? ''}`;
}

/** A line in the form that the settings file is read: other readers of such files keep the outer quotes. */
function lineOf(name: string, value: string, source = ''): string {
  const [, path] = new RegExp(`^${name}_FILE (.*)$`).exec(source) ?? [];
  if (path !== undefined) return `${name}_FILE=${path}`;
  const isQuoted = /^\s|\s$|^(["']).*\1$/.test(value);
  return `${name}=${isQuoted ? `"${value}"` : value}`;
}
