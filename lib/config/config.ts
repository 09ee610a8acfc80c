import * as v from 'valibot';
import { DEFAULT_VALUES } from './defaults.ts';
import { RULES, type SettingFault } from './rules.ts';
import type { Vars } from './setting.ts';
import { type Config, SETTINGS, type SettingName } from './settings.ts';

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
  const values: Record<string, unknown> = {};
  const unread = new Map<SettingName, SettingFault>();
  for (const name of SETTING_NAMES) {
    const result =
      isSet(name) || !(name in DEFAULT_VALUES)
        ? parse(name, given[name])
        : ({ success: true, output: DEFAULT_VALUES[name] } as const);
    if (result.success) values[camelCase(name)] = result.output;
    else unread.set(name, { name, problem: result.problem, ...(isSet(name) ? {} : UNSET_REMEDIES[name]) });
  }
  // A default that cannot be parsed follows from a setting that cannot be: only that setting is reported.
  const reported = [...unread.values()].filter(({ name, remedy }) => isSet(name) || remedy !== undefined);
  // The rules also run beside faults, so that one start reports everything; a setting that did not parse is unset to
  // them.
  const config = values as Partial<Config>;
  reported.push(...RULES.flatMap((rule) => rule(config, isSet)).filter(({ name }) => !unread.has(name)));
  if (reported.length > 0 || unread.size > 0)
    throw new ConfigError(reported.length > 0 ? reported : [...unread.values()]);
  return config as Config;
}

/** The text of every setting: the given one, trimmed, else the default. */
export function effectiveVars(vars: Vars): Vars {
  const given: Record<string, string | undefined> = {};
  for (const name of SETTING_NAMES) given[name] = clean(vars[name]);
  for (const name of SETTING_NAMES) {
    const fallback = SETTINGS[name].default;
    given[name] ??= typeof fallback === 'object' ? fallback.from(given) : fallback;
  }
  return given;
}

/** Every setting's name, in the order of the documents. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

function clean(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

function parse(name: SettingName, text: string | undefined) {
  if (text !== undefined && text.length > SETTING_CHARS_MAX)
    return refusal(`must be at most ${SETTING_CHARS_MAX} characters`);
  if (text !== undefined && /\p{Cc}/u.test(text))
    return refusal('must not contain line breaks or other control characters');
  const result = v.safeParse(SETTINGS[name].schema as v.GenericSchema<string | undefined>, text);
  return result.success ? result : refusal(result.issues[0].message);
}

function refusal(problem: string) {
  return { success: false, problem } as const;
}

/** The remedy of an unset setting without a default. */
const UNSET_REMEDIES: Readonly<Record<string, { readonly remedy: string }>> = {
  VAULT_SECRET: { remedy: 'use the same 32 random bytes on every replica, made once with: openssl rand -hex 32' },
  RPC_URL: { remedy: 'set an endpoint of the chain, because no public one is known for this CHAIN_ID' },
};
