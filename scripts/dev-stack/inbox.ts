import { join } from 'node:path';
import type { Kept, Message } from './mailbox.ts';
import { isLocal, loadPage } from './page.ts';

/** A running page. */
export interface Inbox {
  readonly url: string;
  /** Where an empty inbox leads people: pages that send something. */
  lead(places: Places): void;
  stop(): Promise<void>;
}

/** The shop and the vault, by URL. */
export interface Places {
  readonly shop: string;
  readonly vault: string;
}

/** A message that arrived: mails have HTML, SMS have none. */
type Arrived = Kept<Message & { readonly from?: string; readonly html?: string }>;

/** A message as the page gets it. */
export interface InboxMessage {
  readonly id: number;
  readonly kind: 'mail' | 'sms';
  readonly from: string | null;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly code: string | null;
  /** Whether `/messages/<id>.html` shows it. */
  readonly hasHtml: boolean;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * Shows what the stand-ins received, on loopback: `GET /` for people, `GET /messages?to=&after=` as JSON, oldest first,
 * for other processes.
 */
export async function startInbox(options: { port?: number; read: () => readonly Arrived[] }): Promise<Inbox> {
  const page = await loadPage(join(import.meta.dir, 'inbox'), { isFraming: true });
  const read = () => options.read().toSorted((one, other) => one.arrival - other.arrival);
  let places: Places = { shop: '', vault: '' };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: options.port ?? 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      // Codes are in here: a site that leads its own name to this machine is not answered.
      if (!isLocal(request)) return new Response('This is the inbox of 127.0.0.1\n', { status: 421 });
      const [, id] = /^\/messages\/(\d+)\.html$/.exec(pathname) ?? [];
      if (id !== undefined) return mailPage(read().find(({ arrival }) => arrival === Number(id)));
      if (pathname === '/messages') return Response.json(wanted(read(), searchParams).map(shown), { headers: FRESH });
      return page.answer(pathname, { ...places }) ?? new Response('Not found\n', { status: 404 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    lead(given) {
      places = given;
    },
    stop: () => server.stop(true),
  };
}

const FRESH = { 'cache-control': 'no-store' };

function wanted(messages: readonly Arrived[], query: URLSearchParams): readonly Arrived[] {
  const [to, after] = [query.get('to'), Number(query.get('after') ?? 0)];
  return messages.filter((message) => message.arrival > after && (to === null || message.to.includes(to)));
}

function shown({ arrival: id, from, to, subject, text, html, at }: Arrived): InboxMessage {
  const kind = html === undefined ? 'sms' : 'mail';
  const [code = null] = /\b\d{6}\b/.exec(text) ?? [];
  const rest = { code, hasHtml: Boolean(html), at: new Date(at).toISOString() };
  return { id, kind, from: from ?? null, to, subject, text, ...rest };
}

/** A stranger's HTML: it runs nothing, loads nothing and sends nothing. Its links open in a tab of their own. */
function mailPage(message: Arrived | undefined): Response {
  if (!message?.html) return new Response('Not found\n', { status: 404 });
  const base = '<base target="_blank">';
  const html = /<head[^>]*>/i.test(message.html)
    ? message.html.replace(/<head[^>]*>/i, (head) => head + base)
    : base + message.html;
  return new Response(html, {
    headers: {
      ...FRESH,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        'img-src data:',
        "form-action 'none'",
        "frame-ancestors 'self'",
        `sandbox ${SANDBOX}`,
      ].join('; '),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  });
}

/** The policy of the frame, too. The page measures its height, so it keeps its origin; no script can use that. */
export const SANDBOX = 'allow-same-origin allow-popups allow-popups-to-escape-sandbox';
