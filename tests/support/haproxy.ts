import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askHaproxy } from '../../commands/service/haproxy-socket.ts';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { exampleOf, programAt, replaceAll } from './proxies.ts';
import { untilSo } from './until.ts';

/** The program, where this machine has it. */
export const haproxy = programAt('haproxy');

/** A HAProxy in front of two vaults. */
export interface Haproxy {
  readonly url: string;
  readonly port: number;
  /** Where it takes orders. */
  readonly socket: string;
  /** What its access log says so far. */
  log(): string;
  /** Of each server its name, its state, and what its last health check found. */
  checks(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts HAProxy with the example, but for its addresses and what `edit` changes. */
export async function startHaproxy(
  folder: string,
  vaults: readonly [number, number],
  edit: (config: string) => string = (config) => config,
): Promise<Haproxy> {
  const port = freePort();
  const socket = join(folder, `haproxy-${port}.sock`);
  const file = join(folder, `haproxy-${port}.cfg`);
  const here = replaceAll(edit(exampleOf('haproxy')), [
    ['log /dev/log local0', 'log stdout format raw local0'],
    [/stats socket \S+ mode 660/, `stats socket ${socket}`],
    [/ +(chroot|user|group) .*\n/, ''],
    [/ +(chroot|user|group) .*\n/, ''],
    [/ +(chroot|user|group) .*\n/, ''],
    [/frontend redirect\n[\s\S]*?\n\n/, ''],
    [/bind :443 .*/, `bind 127.0.0.1:${port}`],
    ['127.0.0.1:8787', `127.0.0.1:${vaults[0]}`],
    ['127.0.0.1:8788', `127.0.0.1:${vaults[1]}`],
  ]);
  writeFileSync(file, here);
  const output = join(folder, `haproxy-${port}.log`);
  const stdio = ['ignore', Bun.file(output), 'ignore'] as const;
  const child = Bun.spawn([haproxy ?? 'haproxy', '-db', '-f', file], { stdio: [...stdio] });
  const url = `http://127.0.0.1:${port}`;
  await untilSo(
    () => fetch(`${url}/healthz`).catch(() => undefined),
    (answer) => answer !== undefined,
  );
  return {
    url,
    port,
    socket,
    log: () => readFileSync(output, 'utf8'),
    async checks() {
      const [head = '', ...lines] = (await askHaproxy(socket, 'show stat')).trim().split('\n');
      const names = head.replace('# ', '').split(',');
      const rows = lines.map((line) => new Map(line.split(',').map((value, i) => [names[i], value])));
      const servers = rows.filter((row) => row.get('pxname') === 'vaults' && row.get('svname') !== 'BACKEND');
      const shown = servers.map((row) => ['svname', 'status', 'check_status', 'check_code'].map((n) => row.get(n)));
      // A star stands before the last check's finding while the next check runs.
      return shown.map((fields) => fields.join(' ').replace(' * ', ' '));
    },
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}
