import type { AddressInfo } from 'node:net';
import { connect as connectTo, createServer, type Socket } from 'node:net';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import type { Draw } from '../support/draw.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';

/** How the road to the mail server is: `hang` takes connections and says nothing, `lose` loses the last answers. */
export type Road = 'open' | 'hang' | 'drop' | 'lose';

/** A real mail server behind a road that can be blocked. */
export interface Post {
  readonly catcher: MailCatcher;
  readonly url: string;
  setRoad(road: Road): void;
  /** How often a road that was not open was met. */
  met(): number;
  stop(): Promise<void>;
}

/** Starts both. */
export async function startPost(): Promise<Post> {
  const catcher = await startMailCatcher();
  const sockets = new Set<Socket>();
  let [road, met]: [Road, number] = ['open', 0];
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined);
    client.once('close', () => sockets.delete(client));
    if (road !== 'open') met++;
    if (road === 'drop') return void client.destroy();
    if (road === 'hang') return;
    const there = connectTo(catcher.port, '127.0.0.1');
    there.on('error', () => client.destroy());
    there.once('close', () => client.destroy());
    client.once('close', () => there.destroy());
    client.pipe(there);
    let isMail = false;
    there.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      // The mail is there, and its sender does not hear of it.
      const isLost = road === 'hang' || (road === 'lose' && isMail && text.startsWith('250'));
      isMail = text.startsWith('354');
      if (!isLost) return void client.write(chunk);
      met++;
      if (road === 'lose') client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    catcher,
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setRoad(next) {
      // Connections that were held up end with what held them up, and a dropped road takes all with it.
      if (road === 'hang' || next === 'drop') for (const socket of sockets) socket.destroy();
      road = next;
    },
    met: () => met,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await catcher.stop();
    },
  };
}

/** A receiver of webhooks that lies. */
export interface LyingReceiver extends Receiver {
  /** How many of a thousand first and second attempts go wrong. */
  rate: number;
  lies(): Readonly<Record<string, number>>;
}

/** A later attempt is answered with the truth: its pauses grow, and the audit waits for it. */
const LIES_PER_WEBHOOK = 2;
const HANG_MS = 3_000;

/** Starts one: it fails, hangs, hangs up, or takes a webhook and says that it did not. */
export function startLyingReceiver(draw: Draw): LyingReceiver {
  const told = new Map<string, number>();
  const lies: Record<string, number> = {};
  const receiver = startReceiver() as LyingReceiver;
  const kinds = ['500', 'hangs', 'redirects', 'says 503 with Retry-After', 'is slow'] as const;
  receiver.rate = 0;
  receiver.lies = () => lies;
  receiver.answer = async ({ id }) => {
    const before = told.get(id) ?? 0;
    if (before >= LIES_PER_WEBHOOK || draw.below(1000) >= receiver.rate) return new Response(null, { status: 204 });
    told.set(id, before + 1);
    const kind = kinds[draw.below(kinds.length)] ?? '500';
    lies[kind] = (lies[kind] ?? 0) + 1;
    if (kind === 'hangs') await Bun.sleep(HANG_MS);
    if (kind === 'is slow') await Bun.sleep(draw.below(500));
    if (kind === 'redirects') return new Response(null, { status: 302, headers: { Location: 'http://127.0.0.1:1/' } });
    if (kind === 'says 503 with Retry-After')
      return new Response(null, { status: 503, headers: { 'Retry-After': '1' } });
    return new Response(null, { status: kind === '500' || kind === 'hangs' ? 500 : 200 });
  };
  return receiver;
}
