import { startVault } from '../vault.ts';
import { type RecordedVault, recordedVault } from './vault.ts';

/** The confirm page for a browser: the files and words of a real vault, and recorded answers of its chain. */
export interface ServedPages {
  readonly origin: string;
  readonly vault: RecordedVault;
  stop(): Promise<void>;
}

/** Serves it on loopback. */
export async function servePayPages(vars: Readonly<Record<string, string>> = {}): Promise<ServedPages> {
  const t = await startVault(vars);
  const vault = recordedVault({ now: Date.now });
  const { rpId, rpName, origin } = (await t.call('GET /pay/config')).body;
  vault.config = { rpId, rpName, origin };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (RECORDED.test(pathname)) return vault.ask(pathname + search, { body: await request.text() });
      const headers = { ...Object.fromEntries(request.headers), 'accept-encoding': 'identity' };
      return fetch(`${t.url}${pathname}${search}`, { headers });
    },
  });
  const stop = async () => {
    await server.stop(true);
    await t.stop();
  };
  return { origin: `http://localhost:${server.port}`, vault, stop };
}

const RECORDED = /^\/(?:pay\/(?:config|token|fees|outcome)$|api\/)/;
