import { VaultError } from '../../lib/base/error.ts';

/** How long a check may take. */
const DOCTOR_CHECK_TIMEOUT_MS = 25_000;

/** What one check found: `ok`, `warn` (works, but), `fail` (does not work), `skip` (could not be tried). Neither text holds a secret or a whole URL. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail' | 'skip';
  readonly text: string;
  readonly remedy?: string;
}

/** What is found of one thing. Throws when it does not work at all. */
export interface Check {
  readonly name: string;
  /** What to do when it throws, or does not end. */
  readonly remedy: string;
  readonly run: () => Promise<readonly Finding[]> | readonly Finding[];
}

/** It works. */
export const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text });

/** It works, but. */
export const warn = (check: string, text: string, remedy: string): Finding => ({ check, state: 'warn', text, remedy });

/** It does not work. */
export const fail = (check: string, text: string, remedy: string): Finding => ({ check, state: 'fail', text, remedy });

/** Nobody can tell. */
export const skip = (check: string, text: string): Finding => ({ check, state: 'skip', text });

/** Runs all at once, each within its time, and resolves with everything they found in their own order. Never throws. */
export async function runChecks(
  checks: readonly Check[],
  timeoutMs = DOCTOR_CHECK_TIMEOUT_MS,
): Promise<readonly Finding[]> {
  return (await Promise.all(checks.map((check) => runCheck(check, timeoutMs)))).flat();
}

async function runCheck({ name, remedy, run }: Check, timeoutMs: number): Promise<readonly Finding[]> {
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

/** A failure in words; an upstream's is told by its cause, which holds neither URL nor key. */
export function reasonOf(error: unknown): string {
  const told = error instanceof VaultError && error.cause instanceof Error ? error.cause : error;
  return told instanceof Error ? told.message : String(told);
}
