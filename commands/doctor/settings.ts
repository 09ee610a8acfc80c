import { type Finding, warn } from '../../lib/doctor/finding.ts';
import type { Settings } from '../setup/settings.ts';
import { findWarnings } from '../setup/warnings.ts';

/** Settings that contradict each other, and names of the environment that are near a setting's. */
export function settingWarnings(settings: Pick<Settings, 'config' | 'sources'>): readonly Finding[] {
  return findWarnings(settings).map(({ name, problem, remedy }) => warn('settings', `${name} ${problem}`, remedy));
}
