import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../../scripts/world/port.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const nginx = ['/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/bin/nginx'].find(existsSync);

/** The line that `docs/operating.md` tells operators to write: what is tried is what is told. */
const line = /`(proxy_set_header [^`]*;)`/.exec(
  readFileSync(join(import.meta.dir, '../../docs/operating.md'), 'utf8'),
)?.[1];

if (nginx) {
  describe('behind a real nginx', () => {
    const folder = temporaryFolder();
    let vault: Program;
    let proxy: Bun.Subprocess;
    let port: number;

    beforeAll(async () => {
      const vars = {
        BASE_URL: 'https://vault.example.com',
        TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
        ALLOW_LOG_DELIVERY: 'true',
        VAULT_SECRET,
        OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
        DATA_DIR: folder.path,
      };
      vault = await startProgram(vars, { cwd: folder.path });
      port = freePort();
      proxy = startNginx(nginx, folder.path, port, vault.url);
      for (let i = 0; i < 200 && !(await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined)); i++) {
        await Bun.sleep(25);
      }
    });
    afterAll(async () => {
      proxy.kill('SIGTERM');
      await Promise.all([proxy.exited, vault.stop()]);
      folder.remove();
    });

    let sends = 0;
    /** A send from a true client address, straight to nginx; another identifier each time, so that only the IP's limit counts. */
    const send = (from: string, headers: Record<string, string | string[]> = {}) =>
      post({ port, from, headers, body: { identifier: `user${sends++}@example.com`, channel: 'email' } });
    const statuses = async (times: number, from: string, headers: (n: number) => Record<string, string | string[]>) => {
      const found: number[] = [];
      for (let n = 0; n < times; n++) found.push(await send(from, headers(n)));
      return found;
    };
    const THREE = [200, 200, 200, 429, 429];

    test('each true client has its own limit', async () => {
      expect(await statuses(5, '127.0.0.2', () => ({}))).toEqual(THREE);
      expect(await statuses(5, '127.0.0.3', () => ({}))).toEqual(THREE);
    });

    const ip = (n: number) => `203.0.113.${n}`;
    const ipv6 = (n: number) => `2001:db8:0:${n}::1`;
    test.each<[string, string, (n: number) => Record<string, string | string[]>]>([
      ['Edge-Connecting-IP', '127.0.0.11', (n) => ({ 'Edge-Connecting-IP': ip(n) })],
      ['Edge-Connecting-IP in another spelling', '127.0.0.12', (n) => ({ 'EDGE-connecting-ip': ip(n) })],
      ['Edge_Connecting_IP', '127.0.0.13', (n) => ({ Edge_Connecting_IP: ip(n) })],
      ['Edge-Connecting-IP twice', '127.0.0.14', (n) => ({ 'Edge-Connecting-IP': [ip(n), ip(n + 1)] })],
      ['X-Forwarded-For', '127.0.0.15', (n) => ({ 'X-Forwarded-For': `${ip(n)}, 10.0.0.1` })],
      ['X-Real-IP and Forwarded', '127.0.0.16', (n) => ({ 'X-Real-IP': ip(n), Forwarded: `for=${ip(n)}` })],
      ['rotating IPv6 addresses', '127.0.0.17', (n) => ({ 'Edge-Connecting-IP': ipv6(n), 'X-Forwarded-For': ipv6(n) })],
    ])('a spoofed header gains nothing: %s', async (_, from, headers) => {
      expect(await statuses(5, from, headers)).toEqual(THREE);
    });

    test('who reaches the vault past nginx, from an address that is no trusted proxy, cannot name another either', async () => {
      const direct = Number(new URL(vault.url).port);
      const found: number[] = [];
      for (let n = 0; n < 5; n++) {
        const body = { identifier: `direct${n}@example.com`, channel: 'email' };
        found.push(await post({ port: direct, from: '127.0.0.21', headers: { 'Edge-Connecting-IP': ip(n) }, body }));
      }
      expect(found).toEqual(THREE);
    });
  });
} else console.log('no nginx on this machine: its tests are left out');

function startNginx(program: string, folder: string, port: number, upstream: string): Bun.Subprocess {
  const prefix = join(folder, 'nginx');
  mkdirSync(join(prefix, 'temporary'), { recursive: true });
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const config = `
    daemon off;
    pid ${prefix}/nginx.pid;
    error_log ${prefix}/error.log;
    events {}
    http {
      access_log off;
      ${paths.map((name) => `${name}_temp_path ${prefix}/temporary/${name};`).join('\n      ')}
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass ${upstream};
          ${line}
        }
      }
    }`;
  writeFileSync(join(prefix, 'nginx.conf'), config);
  const options = ['-p', prefix, '-c', join(prefix, 'nginx.conf'), '-e', join(prefix, 'error.log')];
  return Bun.spawn([program, ...options], { stdio: ['ignore', 'ignore', 'ignore'] });
}

/** Node's client, since Bun's `fetch` cannot choose the address it comes from. */
function post({
  port,
  from,
  headers,
  body,
}: {
  port: number;
  from: string;
  headers: Record<string, string | string[]>;
  body: unknown;
}): Promise<number> {
  const text = JSON.stringify(body);
  const length = { 'Content-Type': 'application/json', 'Content-Length': String(text.length) };
  const options = {
    host: '127.0.0.1',
    port,
    localAddress: from,
    path: '/api/verify/send',
    method: 'POST',
    agent: false,
  } as const;
  return new Promise((resolve, reject) => {
    request({ ...options, headers: { ...length, ...headers } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end(text);
  });
}
