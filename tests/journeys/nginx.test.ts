import { afterAll, beforeAll, describe } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { VAULT_SECRET } from '../support/vault.ts';
import { addProxyTests } from './proxied.ts';

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

    addProxyTests(() => ({ proxy: port, vault: Number(new URL(vault.url).port) }));
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
