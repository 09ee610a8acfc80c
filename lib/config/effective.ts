import type { Vars } from './setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';

/** Every setting's name, in the order of the documents. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/**
 * The text of every setting: the given one, trimmed, else the default. Asked for some settings alone, it needs those
 * that their defaults follow from among them.
 */
export function effectiveVars(vars: Vars, names = SETTING_NAMES): Vars {
  const given: Record<string, string | undefined> = {};
  for (const name of names) given[name] = clean(vars[name]);
  for (const name of names) {
    if (given[name] !== undefined) continue;
    const fallback = SETTINGS[name].default;
    given[name] = typeof fallback === 'object' ? fallback.from(given) : fallback;
  }
  return given;
}

/** The member of `Config` for a setting's variable: `BASE_URL` is `baseUrl`. */
export function memberOf(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** A given text, trimmed; undefined where nothing is left. */
export function clean(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
