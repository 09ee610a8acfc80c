import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { untilSo } from './until.ts';

/** A program of this machine, undefined where it has none. */
export function programAt(name: string): string | undefined {
  return ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin'].map((dir) => join(dir, name)).find(existsSync);
}

/** The example in `docs/proxies.md` for operators: the tests run the very text. */
export function exampleOf(language: 'nginx' | 'caddyfile' | 'haproxy'): string {
  const text = readFileSync(join(import.meta.dir, '../../docs/proxies.md'), 'utf8');
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (found === undefined) throw new Error(`docs/proxies.md has no example for ${language}`);
  return found;
}

/** Replaces each text, which must be there. */
export function replaceAll(text: string, changes: readonly (readonly [from: string | RegExp, to: string])[]): string {
  return changes.reduce((before, [from, to]) => {
    const after = before.replace(from, to);
    if (after === before) throw new Error(`the example has no ${from}`);
    return after;
  }, text);
}

/** A proxy in front of a vault. */
export interface FrontProxy {
  readonly port: number;
  /** What its access log says so far. */
  log(): string;
  stop(): Promise<void>;
}

/** How a proxy is started: its program, the folder of its files, the vault behind it, and what to change in the example. */
export interface Setup {
  readonly program: string;
  readonly folder: string;
  /** The vault's URL. */
  readonly upstream: string;
  /** The second one's URL; by default the same. */
  readonly second?: string;
  /** A free port unless one is given. */
  readonly port?: number;
  /** Changes the example. */
  readonly edit?: (config: string) => string;
}

/** What nginx and Caddy look for in a test, instead of `/run/vault-second`. */
export function switchFile(folder: string): string {
  return join(folder, 'vault-second');
}

const same = (config: string) => config;

/** Starts nginx with the example, but for addresses, certificates and places of files. */
export function startNginx({ port = freePort(), edit = same, ...setup }: Setup): Promise<FrontProxy> {
  const { program, folder, upstream, second = upstream } = setup;
  const prefix = join(folder, `nginx-${port}`);
  mkdirSync(join(prefix, 'temporary'), { recursive: true });
  const here = replaceAll(edit(exampleOf('nginx')), [
    ['listen 443 ssl http2', `listen 127.0.0.1:${port}`],
    [/ +listen \[::\]:443 .*\n/, ''],
    [/ +ssl_certificate .*\n +ssl_certificate_key .*\n +ssl_protocols .*\n/, ''],
    [/\nserver \{\n +listen 80;[\s\S]*?\n\}\n/, ''],
    ['/var/log/nginx/vault.log', `${prefix}/access.log`],
    ['/var/log/nginx/vault-error.log', `${prefix}/error.log`],
    ['127.0.0.1:8787', new URL(upstream).host],
    ['127.0.0.1:8788', new URL(second).host],
    ['/run/vault-second', switchFile(folder)],
  ]);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${prefix}/temporary/${name};`,
  );
  const top = `daemon off;\npid ${prefix}/nginx.pid;\nerror_log ${prefix}/error.log;\nevents {}\n`;
  const file = join(prefix, 'nginx.conf');
  writeFileSync(file, `${top}http {\n${places.join('\n')}\n${here}}\n`);
  const command = [program, '-p', prefix, '-c', file, '-e', join(prefix, 'error.log')];
  return run(command, port, join(prefix, 'access.log'), {});
}

/**
 * Starts Caddy with the example, but for addresses and places of files: on loopback, without its own listener for
 * orders, and without certificates.
 */
export function startCaddy({ port = freePort(), edit = same, ...setup }: Setup): Promise<FrontProxy> {
  const { program, folder, upstream, second = upstream } = setup;
  const home = join(folder, `caddy-${port}`);
  mkdirSync(home, { recursive: true });
  const here = replaceAll(edit(exampleOf('caddyfile')), [
    ['vault.example.com {', `http://:${port} {\n\tbind 127.0.0.1`],
    ['/var/log/caddy/vault.log', `${home}/access.log`],
    ['127.0.0.1:8787', new URL(upstream).host],
    ['127.0.0.1:8788', new URL(second).host],
    ['root /run\n', `root ${folder}\n`],
  ]);
  const file = join(home, 'Caddyfile');
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n\tstorage file_system ${home}/data\n}\n${here}`);
  const command = [program, 'run', '--config', file, '--adapter', 'caddyfile'];
  return run(command, port, join(home, 'access.log'), { HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home });
}

async function run(
  command: readonly string[],
  port: number,
  log: string,
  env: Readonly<Record<string, string>>,
): Promise<FrontProxy> {
  const child = Bun.spawn([...command], { env, stdio: ['ignore', 'ignore', 'ignore'] });
  await untilSo(
    async () => {
      if (child.exitCode !== null) throw new Error(`${command[0]} ended with ${child.exitCode}`);
      return fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    },
    (answer) => answer !== undefined,
  );
  return {
    port,
    log: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    async stop() {
      child.kill('SIGTERM');
      await child.exited;
    },
  };
}
