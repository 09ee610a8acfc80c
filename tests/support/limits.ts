import { availableParallelism, loadavg } from 'node:os';
import { LONGER } from './chances.ts';
import { isLong } from './long.ts';

/** On a machine that does nothing else; a limit is there to end what hangs. */
const LIMIT_MS = 20_000;
/** What would take longer on a busier machine has no end. */
const CROWD_MAX = 9;
const LONG_MS = 3_600_000;

/** What a test or hook of a file may take, by its path below `tests`: more where many programs share a core. */
export function limitOf(name: string): number {
  if (isLong) return LONG_MS;
  return Math.ceil((LONGER[name] ?? 1) * LIMIT_MS * crowd());
}

/** Programs that compute, for each core: those of the last minute, or as many as the run starts at once. */
function crowd(): number {
  const [lastMinute = 0] = loadavg();
  const started = Number(process.env['TEST_PROGRAMS'] ?? 1);
  return Math.min(CROWD_MAX, Math.max(1, Math.max(lastMinute, started) / availableParallelism()));
}

/** How long something is waited for within a test, so that what is awaited is said before the test's time is over. */
export function waitLimitMs(): number {
  return Number(process.env['TEST_WAIT_MS'] ?? 60_000);
}
