import type { Vars } from './setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';

/** Every setting's name, in the order of the documents. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/**
 * The text of every setting: the given one, trimmed, else the default. Asked for some settings alone, it needs those
 * that their defaults follow from among them.
 */
export function effectiveVars(vars: Vars, names = SETTING_NAMES): Vars {
  // All at once: an object that gets so many members one by one takes ten times as long.
  const given: Record<string, string | undefined> = Object.fromEntries(names.map((name) => [name, clean(vars[name])]));
  for (const name of names) {
    if (given[name] !== undefined) continue;
    const fallback = SETTINGS[name].default;
    given[name] = typeof fallback === 'object' ? fallback.from(given) : fallback;
  }
  return given;
}

const MEMBERS: ReadonlyMap<string, string> = new Map(SETTING_NAMES.map((name) => [name, camelCase(name)]));

/** The member of `Config` for a setting's variable: `BASE_URL` is `baseUrl`. */
export function memberOf(name: string): string {
  return MEMBERS.get(name) ?? '';
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** A given text, trimmed; undefined where nothing is left. */
export function clean(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
