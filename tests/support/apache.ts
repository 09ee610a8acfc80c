import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { programAt, replaceAll } from './proxies.ts';
import { untilSo } from './until.ts';

/** Where Debian has Apache's modules. */
const MODULES = '/usr/lib/apache2/modules';
const LOADED = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'proxy', 'proxy_http', 'auth_openidc'];

/** Apache with mod_auth_openidc, where this machine has both. */
export const apache = existsSync(`${MODULES}/mod_auth_openidc.so`) ? programAt('apache2') : undefined;

/** The example of `docs/openid-apps.md`: the test runs the very text. */
function example(): string {
  const text = readFileSync(join(import.meta.dir, '../../docs/openid-apps.md'), 'utf8');
  const found = /```apache\n([\s\S]*?)```/.exec(text)?.[1];
  if (found === undefined) throw new Error('docs/openid-apps.md has no example for Apache');
  return found;
}

/** An Apache that is to be started, whose redirect URI the vault has to know before. */
export interface Apache {
  readonly url: string;
  readonly redirectUri: string;
  start(issuer: string, app: string): Promise<void>;
  /** What its log says so far. */
  log(): string;
  stop(): Promise<void>;
}

/** Prepares Apache with the example, but for its addresses, the client's secret, and an app that it stands in front of. */
export function prepareApache(folder: string, secret: string): Apache {
  const port = freePort();
  const url = `http://localhost:${port}`;
  const redirectUri = `${url}/oauth`;
  const log = join(folder, 'error.log');
  let child: Bun.Subprocess | undefined;
  return {
    url,
    redirectUri,
    log: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    async start(issuer, app) {
      const own = replaceAll(example(), [
        ['https://vault.example/', `${issuer}/`],
        ['https://wiki.example/oauth', redirectUri],
        ['OIDCClientSecret …', `OIDCClientSecret ${secret}`],
        ['OIDCCryptoPassphrase …', `OIDCCryptoPassphrase ${secret.slice(0, 20)}`],
        ['http://127.0.0.1:3000/', `${app}/`],
      ]);
      mkdirSync(join(folder, 'run'), { recursive: true });
      const file = join(folder, 'apache.conf');
      const modules = LOADED.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`);
      const places = ['ServerRoot', 'DefaultRuntimeDir'].map((name) => `${name} ${folder}/run`);
      const top = [`Listen 127.0.0.1:${port}`, `ServerName localhost`, `ErrorLog ${log}`, `PidFile ${folder}/pid`];
      // Who is no root cannot change to another user, and stays who it is.
      const user = process.getuid?.() === 0 ? ['User #65534', 'Group #65534'] : [];
      const lines = [...places, ...top, `Mutex file:${folder}/run default`, ...modules, ...user, own];
      writeFileSync(file, lines.join('\n'));
      const ownChild = Bun.spawn([apache ?? 'apache2', '-f', file, '-D', 'FOREGROUND'], {
        stdio: ['ignore', 'ignore', Bun.file(join(folder, 'stderr'))],
      });
      child = ownChild;
      await untilSo(
        async () => {
          if (ownChild.exitCode !== null)
            throw new Error(`Apache ended: ${readFileSync(join(folder, 'stderr'), 'utf8')}${this.log()}`);
          return fetch(url, { redirect: 'manual' }).catch(() => undefined);
        },
        (answer) => answer !== undefined,
      );
    },
    async stop() {
      child?.kill('SIGTERM');
      await child?.exited;
    },
  };
}
