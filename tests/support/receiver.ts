import { createHmac, timingSafeEqual } from 'node:crypto';

/** A webhook as a receiver got it. */
export interface Webhook {
  readonly id: string;
  readonly timestamp: number;
  readonly signatures: readonly string[];
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was sent.
  readonly body: any;
}

/** A receiver whose every answer a test decides: 204 unless set. */
export interface Receiver {
  readonly url: string;
  readonly received: Webhook[];
  answer: (webhook: Webhook, request: Request) => Response | Promise<Response>;
  stop(): Promise<void>;
}

/** A secret as operators write it. */
export const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret of 32 bytes for testing').toString('base64')}`;

/** Starts one on loopback. */
export function startReceiver(): Receiver {
  const received: Webhook[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text();
      const webhook = toWebhook(request.headers, text);
      received.push(webhook);
      return receiver.answer(webhook, request);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}`,
    received,
    answer: () => new Response(null, { status: 204 }),
    stop: () => server.stop(true),
  };
  return receiver;
}

/** A webhook of what was posted; throws for a body that is not JSON. */
export function toWebhook(headers: Headers, text: string): Webhook {
  return {
    id: headers.get('webhook-id') ?? '',
    timestamp: Number(headers.get('webhook-timestamp')),
    signatures: (headers.get('webhook-signature') ?? '').split(' '),
    headers,
    text,
    body: JSON.parse(text),
  };
}

/** Whether one of the signatures is the secret's: by Node's cryptography, from the text of Standard Webhooks. */
export function isSigned({ id, headers, text, signatures }: Webhook, secret: string): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const expected = createHmac('sha256', key)
    .update(`${id}.${headers.get('webhook-timestamp')}.${text}`)
    .digest();
  return signatures.some((signature) => {
    const [version, value = ''] = signature.split(',');
    const given = Buffer.from(value, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}
