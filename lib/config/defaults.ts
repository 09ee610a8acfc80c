import * as v from 'valibot';
import { SETTINGS, type SettingName } from './settings.ts';

/**
 * The values of settings that are not set, but of those whose default follows from other settings. The program has them
 * as constants, so that a start parses what is set.
 */
export const DEFAULT_VALUES: Readonly<Partial<Record<SettingName, unknown>>> = Object.fromEntries(
  Object.entries(SETTINGS).flatMap(([name, { schema, default: fallback }]) => {
    if (typeof fallback === 'object') return [];
    const result = v.safeParse(schema as v.GenericSchema<string | undefined>, fallback);
    return result.success ? [[name, result.output]] : [];
  }),
);
