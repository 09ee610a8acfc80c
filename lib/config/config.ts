import { clean, effectiveVars, memberOf, SETTING_NAMES } from './effective.ts';
import { RULES, remedyOf, type SettingFault } from './rules.ts';
import type { Reading, Setting, Vars } from './setting.ts';
import { type Config, SETTINGS, type SettingName } from './settings.ts';

export { effectiveVars, SETTING_NAMES } from './effective.ts';
export type { SettingFault } from './rules.ts';
export type { Config, SettingName } from './settings.ts';

/** The longest value of a setting, in characters. */
export const SETTING_CHARS_MAX = 65_536;

/** Settings that the vault refuses to start with: all faults, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly SettingFault[];

  constructor(faults: readonly SettingFault[]) {
    super(faults.map(describeFault).join('\n'));
    this.faults = faults;
  }
}

/** A fault as one line. */
export function describeFault({ name, problem, remedy }: SettingFault): string {
  return `${name} ${problem}${remedy === undefined ? '' : `: ${remedy}`}`;
}

/** Parses settings; unknown names are ignored, an empty text counts as unset. Throws `ConfigError` with all faults. */
export function readConfig(vars: Vars): Config {
  const given = effectiveVars(vars);
  const isSet = (name: SettingName) => clean(vars[name]) !== undefined;
  const values: [member: string, value: unknown][] = [];
  const unread = new Map<SettingName, SettingFault>();
  for (const name of SETTING_NAMES) {
    const reading: Reading<unknown> = readSetting(name, given[name]);
    if ('value' in reading) values.push([memberOf(name), reading.value]);
    else unread.set(name, { name, problem: reading.problem, ...(isSet(name) ? {} : remedyOf(name)) });
  }
  // A default that cannot be parsed follows from a setting that cannot be: only that setting is reported.
  const isOwn = (name: SettingName) =>
    (SETTINGS[name] as Setting).remedy !== undefined && !(name === 'RPC_URL' && unread.has('CHAIN_ID'));
  const reported = [...unread.values()].filter(({ name }) => isSet(name) || isOwn(name));
  // The rules also run beside faults, so that one start reports everything; a setting that did not parse is unset to
  // them.
  const config = Object.fromEntries(values) as Partial<Config>;
  reported.push(...RULES.flatMap((rule) => rule(config, isSet)).filter(({ name }) => !unread.has(name)));
  if (reported.length > 0 || unread.size > 0)
    throw new ConfigError(reported.length > 0 ? reported : [...unread.values()]);
  return config as Config;
}

/** Reads a text as this setting: by the rules for every setting, and by its parser. */
export function readSetting(name: SettingName, text: string | undefined): Reading<unknown> {
  if (text !== undefined && text.length > SETTING_CHARS_MAX)
    return { problem: `must be at most ${SETTING_CHARS_MAX} characters` };
  if (text !== undefined && /\p{Cc}/u.test(text))
    return { problem: 'must not contain line breaks or other control characters' };
  return SETTINGS[name].parser(text);
}
