import { type DoctorCheck, ok } from '../../lib/doctor/finding.ts';
import type { DoctorHost, Examined } from '../../lib/doctor/host.ts';
import type { Settings } from '../setup/settings.ts';
import { diskChecks } from './disk.ts';
import { fileChecks } from './files.ts';
import { SIGHT } from './host.ts';
import { settingWarnings } from './settings.ts';

/** The doctor's host in a process that serves, which no check may keep waiting. */
export function servingHost(settings: Pick<Settings, 'config' | 'sources'>, stored: Examined['stored']): DoctorHost {
  const { config } = settings;
  const check: DoctorCheck = {
    name: 'settings',
    remedy: '',
    run() {
      const warnings = settingWarnings(settings);
      return warnings.length > 0 ? warnings : [ok('settings', 'all valid, and none contradicts another')];
    },
  };
  return { ...SIGHT, checks: [check, ...fileChecks(config), ...diskChecks(config, stored)] };
}
