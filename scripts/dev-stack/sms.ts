// Stand-in for Twilio Verify v2: https://www.twilio.com/docs/verify/api (verification, verification-check), errors:
// https://www.twilio.com/docs/api/errors
import { equalText } from '../../lib/base/bytes.ts';
import { type Clock, isoTime, systemClock } from '../../lib/base/clock.ts';
import type { Purpose } from '../../lib/base/purpose.ts';
import { randomCode, randomId, systemRandom } from '../../lib/base/random.ts';
import { answerFault, type Fault, isFault } from './fault.ts';
import { createMailbox, type Mailbox, type Message } from './mailbox.ts';

/** The provider's documented errors: HTTP status and message by code. */
export const SMS_ERRORS = {
  20003: [401, 'Authenticate'],
  20404: [404, 'The requested resource was not found'],
  20429: [429, 'Too Many Requests'],
  20500: [500, 'Internal Server Error'],
  60200: [400, 'Invalid parameter'],
  60202: [429, 'Max check attempts reached'],
  60203: [429, 'Max send attempts reached'],
  60205: [403, 'SMS is not supported by landline phone number'],
  60410: [403, 'Verification delivery attempt blocked'],
} as const;

/** The fault to answer with instead of the work. */
export type SmsFault = Fault | keyof typeof SMS_ERRORS;

/** The account a client must name, and its Verify services by purpose; made-up values in the provider's form. */
export const SMS_ACCOUNT = {
  accountSid: `AC${'0'.repeat(31)}1`,
  authToken: 'local-world-auth-token',
  services: {
    registration: `VA${'0'.repeat(31)}1`,
    recovery: `VA${'0'.repeat(31)}2`,
    credential: `VA${'0'.repeat(31)}3`,
  },
};

/** The settings of a vault that sends its SMS there. */
export function smsVars(url: string) {
  const { registration, recovery, credential } = SMS_ACCOUNT.services;
  return {
    SMS_PROVIDER: 'twilio',
    SMS_COUNTRIES: '*',
    TWILIO_API_URL: url,
    TWILIO_ACCOUNT_SID: SMS_ACCOUNT.accountSid,
    TWILIO_AUTH_TOKEN: SMS_ACCOUNT.authToken,
    TWILIO_VERIFY_SERVICE_SID: registration,
    TWILIO_VERIFY_SERVICE_SID_RECOVERY: recovery,
    TWILIO_VERIFY_SERVICE_SID_CREDENTIAL: credential,
  };
}

/** A running stand-in. Its messages are the texts "sent"; `faults` apply from the next request on, until unset. */
export interface SmsProvider extends Mailbox {
  readonly port: number;
  readonly url: string;
  readonly faults: { send?: SmsFault | undefined; check?: SmsFault | undefined };
  /** How many requests came in, refused ones included. */
  readonly requests: { send: number; check: number };
  /** The code that a service last sent to a phone; undefined when there is none or when it is spent. */
  codeFor(phone: string, purpose?: Purpose): string | undefined;
  stop(): Promise<void>;
}

interface Verification {
  readonly sid: string;
  readonly service: string;
  readonly to: string;
  readonly code: string;
  readonly at: number;
  sends: number;
  checks: number;
}

const VERIFICATION_MS = 600_000;
const SENDS_MAX = 5;
const CHECKS_MAX = 5;

/** How the stand-in behaves; `sendsMax` is how many messages one verification has, the provider's five if absent. */
export interface SmsOptions {
  readonly port?: number;
  readonly clock?: Clock;
  readonly sendsMax?: number;
}

/**
 * Serves the two calls of Verify v2 on loopback, with the provider's own rules: ten minutes, five sends, five checks. A
 * verification belongs to its service, whose path both calls have: one service knows nothing of another's. A GET of a
 * service describes it, as the doctor asks.
 */
export async function startSmsProvider(options: SmsOptions = {}): Promise<SmsProvider> {
  const { clock = systemClock, sendsMax = SENDS_MAX } = options;
  const box = createMailbox<Message>();
  const faults: SmsProvider['faults'] = {};
  const requests = { send: 0, check: 0 };
  const pending = new Map<string, Verification>();

  const live = (service: string, to: string) => {
    const known = pending.get(`${service} ${to}`);
    return known && clock.now() < known.at + VERIFICATION_MS ? known : undefined;
  };

  const send = (service: string, form: URLSearchParams) => {
    const to = form.get('To') ?? '';
    if (form.get('Channel') !== 'sms' || !/^\+[1-9]\d{6,14}$/.test(to)) return failure(60200);
    const known = live(service, to) ?? newVerification(service, to, clock.now());
    if (known.sends === sendsMax) return failure(60203);
    known.sends++;
    pending.set(`${service} ${to}`, known);
    box.add({ to: [to], subject: 'SMS', text: `Your verification code is: ${known.code}` });
    return Response.json(describe(known, 'pending', clock.now()), { status: 201 });
  };

  const check = (service: string, form: URLSearchParams) => {
    const code = form.get('Code') ?? '';
    if (!/^\d{4,10}$/.test(code)) return failure(60200);
    const known = live(service, form.get('To') ?? '');
    if (!known) return failure(20404);
    if (known.checks === CHECKS_MAX) return failure(60202);
    known.checks++;
    const right = equalText(code, known.code);
    if (right) pending.delete(`${service} ${known.to}`);
    return Response.json(describe(known, right ? 'approved' : 'pending', clock.now()));
  };

  const calls = { send, check };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: options.port ?? 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const [, service = '', resource = ''] = /^\/v2\/Services\/(\w+)(?:\/(\w+))?$/.exec(pathname) ?? [];
      if (request.method === 'GET' && resource === '' && SERVICES.includes(service))
        return isAccount(request) ? Response.json(describeService(service)) : failure(20003);
      const call = CALLS[resource];
      if (request.method !== 'POST' || !call || !SERVICES.includes(service)) return failure(20404);
      requests[call]++;
      const fault = faults[call];
      if (fault) return isFault(fault) ? answerFault(fault, request) : failure(fault);
      if (!authorised(request)) return failure(20003);
      return calls[call](service, new URLSearchParams(await request.text()));
    },
  });
  return {
    ...box,
    port: server.port ?? 0,
    url: `http://127.0.0.1:${server.port}`,
    faults,
    requests,
    codeFor: (phone, purpose = 'registration') => live(SMS_ACCOUNT.services[purpose], phone)?.code,
    stop: () => server.stop(true),
  };
}

const CALLS: Readonly<Record<string, 'send' | 'check'>> = { Verifications: 'send', VerificationCheck: 'check' };
const SERVICES: readonly string[] = Object.values(SMS_ACCOUNT.services);

function newVerification(service: string, to: string, at: number): Verification {
  return { sid: `VE${randomId(systemRandom)}`, service, to, code: randomCode(systemRandom), at, sends: 0, checks: 0 };
}

function authorised(request: Request): boolean {
  const isForm = request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') ?? false;
  return isForm && isAccount(request);
}

function isAccount({ headers }: Request): boolean {
  const { accountSid, authToken } = SMS_ACCOUNT;
  return headers.get('authorization') === `Basic ${btoa(`${accountSid}:${authToken}`)}`;
}

function describeService(sid: string): Record<string, unknown> {
  return { sid, account_sid: SMS_ACCOUNT.accountSid, friendly_name: 'Local test service', code_length: 6 };
}

function describe(verification: Verification, status: 'pending' | 'approved', now: number): Record<string, unknown> {
  const { sid, service, to, at } = verification;
  return {
    sid,
    service_sid: service,
    account_sid: SMS_ACCOUNT.accountSid,
    to,
    channel: 'sms',
    status,
    valid: status === 'approved',
    amount: null,
    payee: null,
    date_created: isoTime(at),
    date_updated: isoTime(now),
  };
}

function failure(code: keyof typeof SMS_ERRORS): Response {
  const [status, message] = SMS_ERRORS[code];
  return Response.json({ code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status }, { status });
}
