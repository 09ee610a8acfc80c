import { effectiveVars, memberOf } from './effective.ts';
import { SETTINGS, type SettingName } from './settings.ts';

/** What a setting is where none is set. */
interface Known {
  /** Its name in `Config`. */
  readonly member: string;
  /** The text in force. */
  readonly text: string | undefined;
  /** What that text means; absent where it cannot be parsed. */
  readonly value?: unknown;
}

const texts = effectiveVars({});

/**
 * What every setting is where none is set. The program has it as constants, so that a start parses only texts that
 * differ.
 */
export const DEFAULTS: Readonly<Record<SettingName, Known>> = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { parser }]) => {
    const text = texts[name];
    const reading = parser(text);
    return [name, { member: memberOf(name), text, ...('value' in reading && { value: reading.value }) }];
  }),
) as Record<SettingName, Known>;
