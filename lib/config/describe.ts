import { effectiveVars, SETTING_NAMES } from './effective.ts';
import { maskSetting, type Setting, type Vars } from './setting.ts';
import { SETTINGS } from './settings.ts';

/** A setting in force, as the operator may see it: no secret, of a URL that may hold a key its origin. */
export interface SettingView {
  readonly name: string;
  /** Null if it is unset. */
  readonly value: string | null;
  /** Its default as a value or in words; null without a default. */
  readonly default: string | null;
  /** Whether the value is not the default. */
  readonly changed: boolean;
  readonly meaning: string;
}

/** Every setting in force, in the order of the documents. */
export function describeSettings(vars: Vars): readonly SettingView[] {
  const effective = effectiveVars(vars);
  return SETTING_NAMES.map((name): SettingView => {
    const setting: Setting = SETTINGS[name];
    const text = effective[name] ?? '';
    const fallback = effectiveVars({ ...vars, [name]: undefined })[name] ?? '';
    return {
      name,
      value: text === '' ? null : maskSetting(setting, text),
      default: typeof setting.default === 'object' ? setting.default.words : (setting.default ?? null),
      changed: text !== fallback,
      meaning: setting.meaning,
    };
  });
}
