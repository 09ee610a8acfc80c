import { MINUTE_MS } from '../base/clock.ts';
import type { Fetch } from '../base/http-client.ts';
import { once } from '../base/once.ts';
import type { Readiness } from '../monitoring/health.ts';
import type { Platform } from '../platform.ts';
import type { DoctorCheck, DoctorReport } from './finding.ts';
import type { DoctorHost } from './host.ts';
import type { StoredFacts } from './stored.ts';

/** How long a report is shown again instead of a new one. */
export const DOCTOR_CACHE_MS = MINUTE_MS / 4;

/** How long one check may take: the host's come after the others, and a page waits for all of them. */
const CHECK_MS = 6_000;

/** The parts of a running vault that its doctor looks at. */
export interface Patient extends Pick<Platform, 'config' | 'clock' | 'db'> {
  readonly namesProxies: boolean;
  /** Whether no request may wait for work that another began. */
  readonly isolatesRequests: boolean;
  readonly readiness: () => Promise<Readiness>;
}

/** The checks of `vault doctor`, made by the process that serves. */
export interface Doctor {
  /** Examines, once at a time and per `DOCTOR_CACHE_MS`. Takes at most 12 seconds and never rejects. */
  report(patient: Patient): Promise<DoctorReport>;
  /** The last report; undefined before the first one since the start. */
  last(): DoctorReport | undefined;
}

/** The last report, and when it was made on the monotonic clock. */
export interface DoctorFacts {
  report: DoctorReport | undefined;
  at: number;
}

/** No report yet. */
export function createDoctorFacts(): DoctorFacts {
  return { report: undefined, at: Number.NEGATIVE_INFINITY };
}

/** Opens the host for the doctor, given the facts in the database. */
export type OpenHost = (stored: () => Promise<StoredFacts | undefined>) => Promise<DoctorHost>;

/** The doctor of a running vault; `open` lends it the host, and requests share `last`. */
export function createDoctor(
  { fetch, last }: { readonly fetch: Fetch; readonly last: DoctorFacts },
  open?: OpenHost,
): Doctor {
  let running: Promise<DoctorReport> | undefined;
  const run = async ({ config, clock, db, namesProxies, readiness }: Patient): Promise<DoctorReport> => {
    // Loaded for the operator who asks: nothing else needs it.
    const [{ examine }, { readStoredFacts }] = await Promise.all([import('./examine.ts'), import('./stored.ts')]);
    const stored = once(() => readStoredFacts({ db, clock }));
    const host = await open?.(stored);
    const report = await examine(
      { config, clock, fetch, namesProxies, stored, host },
      [writesCheck(readiness)],
      CHECK_MS,
    );
    Object.assign(last, { report, at: clock.monotonic() });
    return report;
  };
  return {
    async report(patient) {
      if (last.report && patient.clock.monotonic() < last.at + DOCTOR_CACHE_MS) return last.report;
      if (patient.isolatesRequests) return run(patient);
      running ??= run(patient).finally(() => {
        running = undefined;
      });
      return running;
    },
    last: () => last.report,
  };
}

function writesCheck(readiness: () => Promise<Readiness>): DoctorCheck {
  const remedy = 'look for not_ready in the log, and run vault doctor';
  return {
    name: 'database',
    remedy,
    run: async () =>
      (await readiness()).database === 'writable'
        ? [{ name: 'database', state: 'ok', text: 'accepts writes' }]
        : [{ name: 'database', state: 'fail', text: 'does not accept writes', remedy }],
  };
}
