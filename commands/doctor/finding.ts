import { VaultError } from '../../lib/base/error.ts';

/** How long a check may take. */
const DOCTOR_CHECK_TIMEOUT_MS = 25_000;

/**
 * The result of a check: `ok`, `warn` (works with a warning), `fail` (does not work), `skip` (not checked). The texts
 * contain no secret and no whole URL.
 */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail' | 'skip';
  readonly text: string;
  readonly remedy?: string;
}

/** One check. `run` throws if the thing does not work at all. */
export interface DoctorCheck {
  readonly name: string;
  /** What to do if `run` throws or does not end. */
  readonly remedy: string;
  readonly run: () => Promise<readonly Finding[]> | readonly Finding[];
}

/** It works. */
export const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text });

/** It works with a warning. */
export const warn = (check: string, text: string, remedy: string): Finding => ({ check, state: 'warn', text, remedy });

/** It does not work. */
export const fail = (check: string, text: string, remedy: string): Finding => ({ check, state: 'fail', text, remedy });

/** It could not be checked. */
export const skip = (check: string, text: string): Finding => ({ check, state: 'skip', text });

/** Runs all checks in parallel, each with a timeout, and resolves with their findings in order. Never throws. */
export async function runChecks(
  checks: readonly DoctorCheck[],
  timeoutMs = DOCTOR_CHECK_TIMEOUT_MS,
): Promise<readonly Finding[]> {
  return (await Promise.all(checks.map((check) => runCheck(check, timeoutMs)))).flat();
}

async function runCheck({ name, remedy, run }: DoctorCheck, timeoutMs: number): Promise<readonly Finding[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    return await Promise.race([run(), late.promise]);
  } catch (error) {
    return [fail(name, reasonOf(error), remedy)];
  } finally {
    clearTimeout(timer);
  }
}

/** A failure as text. For an upstream it is the cause, which contains neither URL nor key. */
export function reasonOf(error: unknown): string {
  const told = error instanceof VaultError && error.cause instanceof Error ? error.cause : error;
  return told instanceof Error ? told.message : String(told);
}
