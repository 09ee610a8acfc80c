import type { AddressInfo } from 'node:net';
import { connect as connectTo, createServer, type Socket } from 'node:net';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import type { Post, Road } from '../support/torture/place.ts';

/** A real mail server behind a road that can be blocked. */
export interface RealPost extends Post {
  readonly catcher: MailCatcher;
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts both. */
export async function startPost(): Promise<RealPost> {
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
