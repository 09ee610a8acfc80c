import * as v from 'valibot';
import { isObject, parseJson } from '../base/json.ts';
import type { OperatorFiles } from '../base/operator-files.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { readSettingFile } from '../config/setting-file.ts';
import { isRedirectUri, REDIRECT_URI_FORM } from '../config/url-parsers.ts';
import type { Client, Clients } from './client.ts';
import { SECRET_DIGEST } from './secret.ts';

const CLIENTS_BYTES_MAX = 256 * 1024;
/** Redirect URIs of a client. */
const REDIRECT_URIS_MAX = 20;
/** Secrets of a client: two while one is replaced. */
const SECRETS_MAX = 2;

const texts = (name: string, max: number, count: string) =>
  v.pipe(
    v.array(v.string(`${name} must be a list of texts`), `${name} must be a list of texts`),
    v.check(({ length }) => length >= 1 && length <= max, `${name} must have ${count}`),
    v.check((list) => new Set(list).size === list.length, `${name} has an entry twice`),
  );

const ENTRY = v.pipe(
  v.strictObject(
    {
      redirect_uris: v.pipe(
        texts('redirect_uris', REDIRECT_URIS_MAX, `1 to ${REDIRECT_URIS_MAX} entries`),
        v.check((uris) => uris.every(isRedirectUri), `each of redirect_uris must be a URI ${REDIRECT_URI_FORM}`),
      ),
      secrets: v.optional(
        v.pipe(
          texts('secrets', SECRETS_MAX, '1 or 2 entries; a public client has no such member'),
          v.check(
            (secrets) => secrets.every((secret) => SECRET_DIGEST.test(secret)),
            'each of secrets must be a digest as `vault clients secret` prints it: sha256: and 64 hex digits',
          ),
        ),
      ),
      pkce: v.optional(v.literal('optional', 'pkce must be "optional", or absent where PKCE is demanded')),
      sector: v.optional(
        v.pipe(
          v.string('sector must be a name'),
          v.regex(/^[a-z0-9-]{1,64}$/, 'sector must have 1 to 64 of a-z, 0-9 and -'),
        ),
      ),
    },
    ({ expected, received }) => {
      if (expected === 'Object') return 'it must be an object';
      return received === 'undefined'
        ? 'redirect_uris is missing'
        : 'only redirect_uris, secrets, pkce and sector are known';
    },
  ),
  v.check(
    ({ pkce, secrets }) => pkce === undefined || secrets !== undefined,
    'pkce is optional for clients with secrets alone',
  ),
);

/**
 * Reads `CLIENTS`; undefined where it is unset. Throws `ConfigError` for the first fault, with the app that has it and
 * never a value.
 */
export function readClients(
  { clients: path, apps }: Pick<Config, 'clients' | 'apps'>,
  files: OperatorFiles | undefined,
): Clients | undefined {
  if (path === undefined) return undefined;
  const bytes = readSettingFile({ name: 'CLIENTS', path, maxBytes: CLIENTS_BYTES_MAX }, files);
  const file = parseJson(new TextDecoder().decode(bytes));
  if (!isObject(file)) throw fault('names a file that is not a JSON object');
  const clients = new Map<string, Client>();
  for (const [app, given] of Object.entries(file)) {
    if (!apps.includes(app)) throw fault(`names ${nameOf(app)}, which is not in APPS`);
    const entry = v.safeParse(ENTRY, given);
    if (!entry.success) throw fault(`is wrong for the app ${app}: ${entry.issues[0].message}`);
    const { redirect_uris: redirectUris, secrets = [], pkce, sector = app } = entry.output;
    clients.set(app, { id: app, redirectUris, secrets, needsPkce: pkce === undefined, sector });
  }
  return clients;
}

/** Somebody may have put a value in the place of a name. */
function nameOf(app: string): string {
  return /^[a-z0-9-]{1,64}$/.test(app) ? `the app ${app}` : 'an app';
}

function fault(problem: string): ConfigError {
  return new ConfigError([{ name: 'CLIENTS', problem }]);
}
