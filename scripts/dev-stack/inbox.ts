import type { Message } from './mailbox.ts';

/** A running page. */
export interface Inbox {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Shows what the stand-ins received, on loopback: `GET /` for people, `GET /messages?to=` as JSON, oldest first, for
 * other processes.
 */
export function startInbox(options: { port?: number; read: () => readonly Message[] }): Inbox {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: options.port ?? 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === '/') return page(options.read());
      if (pathname !== '/messages') return new Response('Not found\n', { status: 404 });
      const to = searchParams.get('to');
      const wanted = options.read().filter((message) => to === null || message.to.includes(to));
      return Response.json(wanted.map(({ to, subject, text }) => ({ to, subject, text })));
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

function page(messages: readonly Message[]): Response {
  const articles = messages
    .toReversed()
    .map(
      ({ to, subject, text }) =>
        `<article><h2>${escapeHtml(subject)}</h2><p>to ${escapeHtml(to.join(', '))}</p><pre>${escapeHtml(text)}</pre></article>`,
    );
  const body = articles.join('\n') || '<p>Nothing has arrived yet.</p>';
  return new Response(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3"><title>Inbox</title><h1>Inbox</h1>\n${body}\n`,
    { headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'" } },
  );
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
