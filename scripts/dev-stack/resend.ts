// Stand-in for Resend: https://resend.com/docs/api-reference/emails/send-email, errors:
// https://resend.com/docs/api-reference/errors
import { answerFault, type Fault, isFault } from './fault.ts';
import { createMailbox, type Mailbox, type Message } from './mailbox.ts';

/** The provider's documented errors: HTTP status and message by name. */
export const RESEND_ERRORS = {
  missing_api_key: [401, 'Missing API key in the authorization header.'],
  invalid_api_key: [403, 'API key is invalid.'],
  method_not_allowed: [405, 'This endpoint does not support the specified HTTP method.'],
  not_found: [404, 'The requested endpoint does not exist.'],
  missing_required_field: [422, 'The request body is missing one or more required fields.'],
  validation_error: [422, 'We found an error with one or more fields in the request.'],
  rate_limit_exceeded: [429, 'Too many requests. Please limit the number of requests per second.'],
  daily_quota_exceeded: [429, 'You have reached your daily email sending quota.'],
  internal_server_error: [500, 'An unexpected error occurred.'],
} as const;

/** The fault to answer with instead of the work. */
export type ResendFault = Fault | keyof typeof RESEND_ERRORS;

/** The key a client must send; a made-up value in the provider's form. */
export const RESEND_API_KEY = 're_local_world_key';

/** A mail as it was handed over. */
export interface ResendMail extends Message {
  readonly id: string;
  readonly from: string;
  readonly html: string;
  /** Its further headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A running stand-in; `faults` apply from the next request on, until unset. */
export interface ResendProvider extends Mailbox<ResendMail> {
  readonly port: number;
  readonly url: string;
  readonly faults: { send?: ResendFault | undefined };
  /** How many requests came in, refused ones included. */
  readonly requests: { send: number };
  stop(): Promise<void>;
}

/**
 * Serves `POST /emails` on loopback; a repeated `Idempotency-Key` answers the first id and hands nothing over again.
 */
export async function startResend(options: { port?: number } = {}): Promise<ResendProvider> {
  const box = createMailbox<ResendMail>();
  const faults: ResendProvider['faults'] = {};
  const requests = { send: 0 };
  const sent = new Map<string, string>();

  const accept = async (request: Request) => {
    const mail = readMail(await request.json().catch(() => undefined));
    if (typeof mail === 'string') return failure(mail);
    const key = request.headers.get('idempotency-key');
    const earlier = key === null ? undefined : sent.get(key);
    if (earlier === undefined) box.add(mail);
    if (key !== null) sent.set(key, earlier ?? mail.id);
    return Response.json({ id: earlier ?? mail.id });
  };

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: options.port ?? 0,
    idleTimeout: 0,
    fetch(request) {
      requests.send++;
      const fault = faults.send;
      if (fault) return isFault(fault) ? answerFault(fault, request) : failure(fault);
      if (new URL(request.url).pathname !== '/emails') return failure('not_found');
      if (request.method !== 'POST') return failure('method_not_allowed');
      const authorization = request.headers.get('authorization');
      if (!authorization?.startsWith('Bearer ')) return failure('missing_api_key');
      return authorization === `Bearer ${RESEND_API_KEY}` ? accept(request) : failure('invalid_api_key');
    },
  });
  return {
    ...box,
    port: server.port ?? 0,
    url: `http://127.0.0.1:${server.port}`,
    faults,
    requests,
    stop: () => server.stop(true),
  };
}

function readMail(body: unknown): ResendMail | keyof typeof RESEND_ERRORS {
  if (typeof body !== 'object' || body === null) return 'validation_error';
  const { from, to, subject, text = '', html = '', headers = {} } = body as Record<string, unknown>;
  if (!from || !to || !subject || !(text || html)) return 'missing_required_field';
  const recipients = Array.isArray(to) ? to : [to];
  const all = [from, subject, text, html, ...recipients];
  if (!all.every((value) => typeof value === 'string') || recipients.length > 50) return 'validation_error';
  if (typeof headers !== 'object' || !Object.values(headers ?? {}).every((value) => typeof value === 'string'))
    return 'validation_error';
  if (!recipients.every((address) => /^[^@\s]+@[^@\s]+$/.test(address))) return 'validation_error';
  const [sender, title, plain, rich] = all as [string, string, string, string];
  const further = headers as Readonly<Record<string, string>>;
  return {
    id: crypto.randomUUID(),
    from: sender,
    to: recipients,
    subject: title,
    text: plain,
    html: rich,
    headers: further,
  };
}

function failure(name: keyof typeof RESEND_ERRORS): Response {
  const [statusCode, message] = RESEND_ERRORS[name];
  const headers = statusCode === 429 ? { 'retry-after': '1' } : {};
  return Response.json({ statusCode, name, message }, { status: statusCode, headers });
}
