import type { Setting } from '../../lib/config/setting.ts';
import { SETTINGS, type SettingName } from '../../lib/config/settings.ts';

/** Texts that almost every parser refuses. Its refusal says what it takes. */
const NONSENSE = ['\u0001', '%%', '@ @', '=', ''];

/** The type of a setting, in the words with which its parser refuses another text. */
export function typeOf(setting: Pick<Setting, 'parser'>): string {
  const problem = problemOf(setting);
  if (problem === undefined) return 'text';
  return problem
    .replace(/^must be /, '')
    .replace(/^must look like /, 'such as ')
    .replace(/^must start with /, 'text that starts with ');
}

/** The words that a setting takes one of; undefined where it takes others too. */
export function settingValues(setting: Pick<Setting, 'parser'>): readonly string[] | undefined {
  const type = typeOf(setting);
  if (type === 'true or false') return ['true', 'false'];
  return /^one of ([\w-]+(?:, [\w-]+)*)$/.exec(type)?.[1]?.split(', ');
}

/** The words of a setting, by its name. */
export function valuesOfSetting(name: SettingName): readonly string[] | undefined {
  return settingValues(SETTINGS[name] as Setting);
}

function problemOf({ parser }: Pick<Setting, 'parser'>): string | undefined {
  for (const text of NONSENSE) {
    const reading = parser(text);
    if ('problem' in reading) return reading.problem;
  }
  return undefined;
}
