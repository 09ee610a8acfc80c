import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { until } from './console.ts';

/** The program, where this machine has it. */
export const haproxy = ['/usr/sbin/haproxy', '/usr/bin/haproxy', '/usr/local/sbin/haproxy'].find(existsSync);

/** The configuration that `docs/operating.md` tells operators to write: what is tried is what is told. */
const told =
  /```haproxy\n([\s\S]*?)```/.exec(readFileSync(join(import.meta.dir, '../../docs/operating.md'), 'utf8'))?.[1] ?? '';

/** A HAProxy in front of two vaults. */
export interface Haproxy {
  readonly url: string;
  readonly port: number;
  /** Of each server its name, its state, and what its last health check found. */
  checks(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts HAProxy with the text of the document, but for its addresses and what `edit` changes. */
export async function startHaproxy(
  folder: string,
  vaults: readonly [number, number],
  edit: (config: string) => string = (config) => config,
): Promise<Haproxy> {
  const port = freePort();
  const socket = join(folder, `haproxy-${port}.sock`);
  const file = join(folder, `haproxy-${port}.cfg`);
  const here = told
    .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
    .replace('127.0.0.1:8787', `127.0.0.1:${vaults[0]}`)
    .replace('127.0.0.1:8788', `127.0.0.1:${vaults[1]}`);
  writeFileSync(file, `global\n  stats socket ${socket}\n${edit(here)}`);
  const child = Bun.spawn([haproxy ?? 'haproxy', '-db', '-q', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  await until(
    () => fetch(`${url}/healthz`).catch(() => undefined),
    (answer) => answer !== undefined,
  );
  return {
    url,
    port,
    async checks() {
      const [head = '', ...lines] = (await ask(socket, 'show stat')).trim().split('\n');
      const names = head.replace('# ', '').split(',');
      const rows = lines.map((line) => new Map(line.split(',').map((value, i) => [names[i], value])));
      const servers = rows.filter((row) => row.get('pxname') === 'vaults' && row.get('svname') !== 'BACKEND');
      return servers.map((row) => ['svname', 'status', 'check_status', 'check_code'].map((n) => row.get(n)).join(' '));
    },
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}

/** What HAProxy answers on its own socket. */
function ask(path: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(path, () => socket.write(`${command}\n`));
    socket
      .on('data', (chunk) => {
        answer += chunk;
      })
      .on('close', () => resolve(answer))
      .on('error', reject);
  });
}
