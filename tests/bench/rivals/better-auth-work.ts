import { type Finding, load, request, type Span } from '../frame/load.ts';
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
  let next = 0;
  let sent: Range = NONE;
  let known: Range = NONE;
  let asked: Range = NONE;
  const email = (n: number) => `user${n}@example.com`;
  const run = async (path: string, bodyOf: (n: number) => unknown, span: Partial<Span>) => {
    let done = 0;
    const requestOf = (n: number) => {
      done++;
      return request('POST', `/api/auth${path}`, { body: bodyOf(n), ip: ipOf(n % CLIENTS) });
    };
    const finding = mustBeOk(await load(target, requestOf, { ms, ...span }));
    return { finding, done };
  };
  return {
    async send() {
      const first = next;
      const body = () => ({ email: email(next++), type: 'sign-in' });
      const { finding, done } = await run('/email-otp/send-verification-otp', body, SUCCESS);
      sent = { first, count: done };
      return finding;
    },
    async signIn() {
      const { first, count } = sent;
      const body = (n: number) => ({ email: email(first + n), otp });
      const { finding, done } = await run('/sign-in/email-otp', body, { count, holds: '"emailVerified":true' });
      known = { first, count: done };
      return finding;
    },
    async sendToKnown() {
      const { first, count } = known;
      const body = (n: number) => ({ email: email(first + n), type: 'email-verification' });
      const { finding, done } = await run('/email-otp/send-verification-otp', body, { count, ...SUCCESS });
      asked = { first, count: done };
      return finding;
    },
    async verify() {
      const { first, count } = asked;
      const body = (n: number) => ({ email: email(first + n), otp });
      return (await run('/email-otp/verify-email', body, { count, holds: '"status":true' })).finding;
    },
  };
}

/** People by their numbers. */
interface Range {
  readonly first: number;
  readonly count: number;
}

const NONE: Range = { first: 0, count: 0 };
const SUCCESS = { holds: '"success":true' };
