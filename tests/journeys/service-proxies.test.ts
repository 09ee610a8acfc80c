// The files of `vault service install`, with TLS and both ports, in the real proxies. Ports and places of logs differ.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { programAt } from '../support/proxies.ts';
import { runProgram } from '../support/run.ts';
import { TEST_AUTHORITY, TEST_CERTIFICATES } from '../support/tls.ts';
import { untilSo } from '../support/until.ts';
import { PROXIED } from './proxied.ts';

const HOST = 'hooks.example';

interface Kind {
  readonly file: string;
  /** What the file becomes where another one holds it, or where its user and places are not there. */
  readonly adapt: (text: string, place: Place) => string;
  readonly check: (file: string) => string[];
  readonly run: (file: string) => string[];
}

interface Place {
  readonly folder: string;
  readonly http: number;
  readonly https: number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  nginx: {
    file: 'etc/nginx/conf.d/vault.conf',
    adapt: (text, { folder, http, https }) => {
      const own = text
        .replaceAll('/var/log/nginx', folder)
        .replace(/listen 443/, `listen 127.0.0.1:${https}`)
        .replace(/listen 80;/, `listen 127.0.0.1:${http};`)
        .replace(/ +listen \[::\].*\n/g, '');
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (one) => `${one}_temp_path ${folder}/${one};`,
      );
      return `daemon off;\npid ${folder}/nginx.pid;\nevents {}\nhttp {\n${places.join('\n')}\n${own}}\n`;
    },
    check: (file) => ['-t', '-q', '-c', file, '-e', `${file}.log`],
    run: (file) => ['-c', file, '-e', `${file}.log`],
  },
  caddy: {
    file: 'etc/caddy/vault.caddyfile',
    adapt: (text, { folder, http, https }) =>
      `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n\tstorage file_system ${folder}/data\n}\n${text.replace('/var/log/caddy', folder)}`,
    check: (file) => ['validate', '--config', file, '--adapter', 'caddyfile'],
    run: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
  haproxy: {
    file: 'etc/haproxy/vault.cfg',
    adapt: (text, { folder, http, https }) =>
      text
        .replace(/ +(?:chroot|user|group) .*\n/g, '')
        .replace('/run/haproxy/admin.sock', `${folder}/admin.sock`)
        .replace('bind :443', `bind 127.0.0.1:${https}`)
        .replace('bind :80', `bind 127.0.0.1:${http}`),
    check: (file) => ['-c', '-q', '-f', file],
    run: (file) => ['-db', '-f', file],
  },
};

describe('the files that vault service install writes', () => {
  const folder = temporaryFolder();
  let vault: Program;
  beforeAll(async () => {
    vault = await startProgram(
      { ...PROXIED, BASE_URL: `https://${HOST}`, DATA_DIR: folder.path },
      { cwd: folder.path },
    );
    const { key, cert } = TEST_CERTIFICATES[HOST];
    writeFileSync(join(folder.path, 'key.pem'), key);
    writeFileSync(join(folder.path, 'both.pem'), `${cert}\n${key}\n`);
  });
  afterAll(async () => {
    await vault?.stop('SIGKILL');
    folder.remove();
  });

  for (const [name, kind] of Object.entries(KINDS)) {
    const program = programAt(name);
    if (program === undefined) {
      console.log(`no ${name} on this machine: its file is not tried`);
      continue;
    }

    test(`${name} takes its file, serves TLS, leads http to https, and bounds bodies`, async () => {
      const root = join(folder.path, name);
      mkdirSync(root);
      const place = { folder: root, http: freePort(), https: freePort() };
      const words = [
        '--proxy',
        name,
        '--program',
        '/usr/local/bin/vault',
        '--root',
        root,
        '--base-url',
        `https://${HOST}`,
        '--port',
        new URL(vault.url).port,
      ];
      const files = ['--certificate', join(folder.path, 'both.pem'), '--certificate-key', join(folder.path, 'key.pem')];
      expect((await runProgram(['service', 'install', ...words, ...files], { cwd: root })).code).toBe(0);
      const file = join(root, 'proxy.conf');
      writeFileSync(file, kind.adapt(readFileSync(join(root, kind.file), 'utf8'), place));
      const env = { HOME: root, XDG_DATA_HOME: root, XDG_CONFIG_HOME: root };
      const checked = Bun.spawnSync([program, ...kind.check(file)], { env });
      expect([checked.exitCode, checked.exitCode === 0 ? '' : checked.stderr.toString()]).toEqual([0, '']);

      const child = Bun.spawn([program, ...kind.run(file)], { env, stdio: ['ignore', 'ignore', 'ignore'] });
      try {
        await untilSo(
          () => ask(place.https, '/healthz').catch(() => undefined),
          (status) => status === 200,
        );
        expect(await ask(place.https, '/metrics')).toBe(404);
        expect(await ask(place.https, '/api/sessions', 2_000_000)).toBe(413);
        const plain = await fetch(`http://127.0.0.1:${place.http}/pay?x=1`, {
          headers: { Host: HOST },
          redirect: 'manual',
        });
        const to = new URL(plain.headers.get('location') ?? '');
        expect([plain.status, to.hostname, to.pathname, to.search]).toEqual([308, HOST, '/pay', '?x=1']);
      } finally {
        child.kill('SIGTERM');
        await child.exited;
      }
    });
  }
});

/** The status of an answer over TLS; with bytes it is a POST of a body that claims to be so long. */
function ask(port: number, path: string, bytes = 0): Promise<number> {
  const to = { host: '127.0.0.1', port, servername: HOST, ca: TEST_AUTHORITY, path, agent: false } as const;
  const headers = { Host: HOST, ...(bytes > 0 ? { 'Content-Type': 'application/json', 'Content-Length': bytes } : {}) };
  return new Promise((resolve, reject) => {
    const sent = request({ ...to, method: bytes > 0 ? 'POST' : 'GET', headers }, (response) => {
      resolve(response.statusCode ?? 0);
      response.resume();
      sent.destroy();
    }).on('error', reject);
    if (bytes > 0) sent.write(Buffer.alloc(bytes, 32));
    else sent.end();
  });
}
