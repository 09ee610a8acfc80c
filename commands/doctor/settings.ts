import type { SettingWarning } from '../../lib/config/contradictions.ts';
import { findNearMisses } from '../../lib/config/near-misses.ts';
import { type Finding, warn } from '../../lib/doctor/finding.ts';
import type { Settings } from '../setup/settings.ts';
import { findWarnings } from '../setup/warnings.ts';

/** Settings that contradict each other, and names of the environment that are near a setting's. */
export function settingWarnings(settings: Pick<Settings, 'config' | 'sources'>): readonly Finding[] {
  return findWarnings(settings).map(asFinding);
}

/** Names of the environment that are near a setting's: all that can be said where settings cannot be used. */
export function nearMisses(): readonly Finding[] {
  return findNearMisses(Object.keys(process.env)).map(asFinding);
}

function asFinding({ name, problem, remedy }: SettingWarning): Finding {
  return warn('settings', `${name} ${problem}`, remedy);
}
