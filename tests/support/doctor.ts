import { SIGHT } from '../../commands/doctor/host.ts';
import { systemClock } from '../../lib/base/clock.ts';
import type { Config } from '../../lib/config/config.ts';
import type { Examined, Sight } from '../../lib/doctor/host.ts';

/** What the doctor's checks are given for these settings, with the sight of this process but for what a test says. */
export function examinedOf(config: Config, sight: Partial<Sight> = {}): Examined {
  return { config, fetch, clock: systemClock, namesProxies: true, host: { ...SIGHT, ...sight } };
}
