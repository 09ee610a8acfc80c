import type { Clock } from '../base/clock.ts';
import { oneLine } from '../base/one-line.ts';
import { troubleOf } from './trouble.ts';

/** How long a check may take. */
const DOCTOR_CHECK_TIMEOUT_MS = 25_000;

/** The checks of each area, in the order in which they are shown. */
const AREAS = {
  settings: ['settings'],
  storage: ['files', 'database', 'schema', 'backup', 'disk'],
  chain: [
    'chain',
    'contracts',
    'witness',
    'accounts',
    'tokens',
    'looks',
    'registrar',
    'guardian',
    'bundler',
    'indexer',
  ],
  delivery: ['mail', 'spf', 'dkim', 'dmarc', 'sms'],
  people: ['brand', 'words', 'sign-up', 'apps', 'credentials'],
  network: ['clock', 'origin', 'proxies', 'webhooks'],
} as const;

/** The subject of a finding. */
export type CheckName = (typeof AREAS)[keyof typeof AREAS][number];

/**
 * The result of a check: `ok`, `warn` (works with a warning), `fail` (does not work), `skipped` (not checked). The
 * texts contain no secret and no whole URL.
 */
export interface Finding {
  readonly name: CheckName;
  readonly state: 'ok' | 'warn' | 'fail' | 'skipped';
  readonly text: string;
  readonly remedy?: string;
}

/** One check. `run` throws if the thing does not work at all. */
export interface DoctorCheck {
  readonly name: CheckName;
  /** The remedy if `run` throws or does not end. */
  readonly remedy: string;
  readonly run: () => Promise<readonly Finding[]> | readonly Finding[];
}

/** The findings, by area, and their time (ISO 8601). */
export interface DoctorReport {
  readonly checkedAt: string;
  readonly checks: readonly (Finding & { readonly area: string })[];
}

/** It works. */
export const ok = (name: CheckName, text: string): Finding => ({ name, state: 'ok', text });

/** It works with a warning. */
export const warn = (name: CheckName, text: string, remedy: string): Finding => ({ name, state: 'warn', text, remedy });

/** It does not work. */
export const fail = (name: CheckName, text: string, remedy: string): Finding => ({ name, state: 'fail', text, remedy });

/** It could not be checked. */
export const skip = (name: CheckName, text: string): Finding => ({ name, state: 'skipped', text });

/** The findings with their areas, in the order of these, each on one line: part of a text may be a server's answer. */
export function byArea(findings: readonly Finding[]): DoctorReport['checks'] {
  return Object.entries(AREAS).flatMap(([area, names]) =>
    names.flatMap((one) =>
      findings.flatMap(({ name, text, remedy, ...rest }) =>
        name === one
          ? [{ area, name, ...rest, text: oneLine(text), ...(remedy === undefined ? {} : { remedy: oneLine(remedy) }) }]
          : [],
      ),
    ),
  );
}

/** Runs all checks in parallel, each with a timeout, and resolves with their findings in order. Never throws. */
export async function runChecks(
  clock: Clock,
  checks: readonly DoctorCheck[],
  timeoutMs = DOCTOR_CHECK_TIMEOUT_MS,
): Promise<readonly Finding[]> {
  return (await Promise.all(checks.map((check) => runCheck(clock, check, timeoutMs)))).flat();
}

async function runCheck(
  clock: Clock,
  { name, remedy, run }: DoctorCheck,
  timeoutMs: number,
): Promise<readonly Finding[]> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => reject(new Error(`no answer within ${timeoutMs / 1000} s`)));
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    const trouble = troubleOf(error, remedy);
    return [fail(name, trouble.text, trouble.remedy)];
  } finally {
    cancel();
  }
}
