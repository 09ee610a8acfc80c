import type { Config } from '../../lib/config/config.ts';
import type { DoctorHost } from '../../lib/doctor/host.ts';
import { fileChecks } from './files.ts';
import { SIGHT } from './host.ts';
import { diskChecks } from './storage.ts';

/** What the doctor looks at in a process that serves, which no check may keep waiting. */
export function servingHost(config: Config): DoctorHost {
  return { ...SIGHT, checks: [...fileChecks(config), ...diskChecks(config)] };
}
