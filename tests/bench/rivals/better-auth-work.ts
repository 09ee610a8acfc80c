import { type Finding, load, request } from '../frame/load.ts';
import type { Target } from '../frame/target.ts';
import { ipOf, mustBeOk } from '../vault-work.ts';

/** What better-auth is asked for, as measurements of `ms` each. */
export interface BetterAuthWork {
  /** To a new address: it keeps the code and mails it. */
  send(): Promise<Finding>;
  /** With the codes of the last `send`: it makes the person and a session. */
  signIn(): Promise<Finding>;
  /** To the people of the last `signIn`. */
  sendToKnown(): Promise<Finding>;
  /** With the codes of the last `sendToKnown`: it marks the address as proven. The nearest to the vault's check. */
  verify(): Promise<Finding>;
}

/**
 * Its limiter goes through every client it remembers with each request, so the load comes from a few clients. The
 * vault's load comes from a new client each time, which its limits demand.
 */
const CLIENTS = 256;

/** The work on one better-auth. */
export function betterAuthWork(target: Target, otp: string, ms: number): BetterAuthWork {
  let [first, next, known, asked] = [0, 0, 0, 0];
  const run = async (bodyOf: (n: number) => unknown, path: string, count = Number.POSITIVE_INFINITY) => {
    const requestOf = (n: number) => request('POST', `/api/auth${path}`, { body: bodyOf(n), ip: ipOf(n % CLIENTS) });
    return mustBeOk(await load(target, requestOf, { ms, count }));
  };
  const email = (n: number) => `user${n}@example.com`;
  return {
    send() {
      first = next;
      return run(() => ({ email: email(next++), type: 'sign-in' }), '/email-otp/send-verification-otp');
    },
    signIn() {
      known = 0;
      return run(() => ({ email: email(first + known++), otp }), '/sign-in/email-otp', next - first);
    },
    sendToKnown() {
      asked = 0;
      const body = () => ({ email: email(first + asked++), type: 'email-verification' });
      return run(body, '/email-otp/send-verification-otp', known);
    },
    verify: () => run((n) => ({ email: email(first + n), otp }), '/email-otp/verify-email', asked),
  };
}
