import * as v from 'valibot';
import type { OperatorFiles } from '../base/operator-files.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { jsonObjectOf, readSettingFile } from '../config/setting-file.ts';
import { isRedirectUri, isResourceUrl, REDIRECT_URI_FORM, RESOURCE_URL_FORM } from '../config/url-parsers.ts';
import { type Client, type Clients, findResource, type Resource } from './client.ts';
import { SECRET_DIGEST } from './secret.ts';

const CLIENTS_BYTES_MAX = 256 * 1024;
/** Redirect URIs of a client. */
const REDIRECT_URIS_MAX = 20;
/** Secrets of a client: two while one is replaced. */
const SECRETS_MAX = 2;
/** Resources of a client, and scopes of a resource. */
const RESOURCES_MAX = 20;
/** A scope (RFC 6749 section 3.3) that gives no claims and no tokens. */
const RESOURCE_SCOPE = /^(?!(?:openid|email|phone|profile|did|address|offline_access)$)[!#-[\]-~]{1,64}$/;

const texts = (name: string, max: number, count: string) =>
  v.pipe(
    v.array(v.string(`${name} must be a list of texts`), `${name} must be a list of texts`),
    v.check(({ length }) => length >= 1 && length <= max, `${name} must have ${count}`),
    v.check((list) => new Set(list).size === list.length, `${name} has an entry twice`),
  );

const RESOURCE_FORM =
  `each of resources must be a URL ${RESOURCE_URL_FORM}; or an object with such a url, and scopes: ` +
  `1 to ${RESOURCES_MAX} names, none of OpenID Connect`;
const RESOURCE_URL = v.pipe(v.string(), v.check(isResourceUrl, RESOURCE_FORM));
const RESOURCE = v.union(
  [
    v.pipe(
      RESOURCE_URL,
      v.transform((url) => ({ url, scopes: [] })),
    ),
    v.strictObject({
      url: RESOURCE_URL,
      scopes: v.pipe(
        texts('scopes', RESOURCES_MAX, RESOURCE_FORM),
        v.check((scopes) => scopes.every((scope) => RESOURCE_SCOPE.test(scope)), RESOURCE_FORM),
      ),
    }),
  ],
  RESOURCE_FORM,
);

const ENTRY = v.pipe(
  v.strictObject(
    {
      redirect_uris: v.optional(
        v.pipe(
          texts('redirect_uris', REDIRECT_URIS_MAX, `1 to ${REDIRECT_URIS_MAX} entries`),
          v.check(
            (uris) => !uris.some((uri) => uri.includes('*')),
            'redirect_uris has a *, and takes no patterns: list each URI',
          ),
          v.check((uris) => uris.every(isRedirectUri), `each of redirect_uris must be a URI ${REDIRECT_URI_FORM}`),
        ),
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
      resources: v.optional(
        v.pipe(
          v.array(RESOURCE, 'resources must be a list'),
          v.check(
            ({ length }) => length >= 1 && length <= RESOURCES_MAX,
            `resources must have 1 to ${RESOURCES_MAX} entries`,
          ),
          v.check((list) => new Set(list.map(({ url }) => url)).size === list.length, 'resources has an entry twice'),
        ),
      ),
    },
    ({ expected }) =>
      expected === 'Object'
        ? 'it must be an object'
        : 'only redirect_uris, secrets, pkce, sector and resources are known',
  ),
  // An app that is a server for agents alone signs nobody in itself.
  v.check(
    ({ redirect_uris, resources }) => redirect_uris !== undefined || resources !== undefined,
    'redirect_uris is missing',
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
  const file = jsonObjectOf(new TextDecoder().decode(bytes), (trouble) => fault(`names a file that ${trouble}`));
  const clients = new Map<string, Client>();
  for (const [app, given] of Object.entries(file)) {
    if (!apps.includes(app)) throw fault(unknownApp(app));
    const entry = v.safeParse(ENTRY, given);
    if (!entry.success) throw fault(`is wrong for the app ${app}: ${entry.issues[0].message}`);
    const { redirect_uris: redirectUris = [], secrets = [], pkce, sector = app } = entry.output;
    const resources = (entry.output.resources ?? []).map((one) => ({ ...one, app, sector }));
    if (resources.some((one) => isOfOther(one, clients)))
      throw fault(`is wrong for the app ${app}: it has a resource of an app of another sector`);
    clients.set(app, { id: app, redirectUris, secrets, needsPkce: pkce === undefined, sector, resources });
  }
  return clients;
}

/** A person has one `sub` at a server, whichever app asks. */
function isOfOther({ url, sector }: Resource, clients: Clients): boolean {
  return [...clients.values()].some((one) => one.sector !== sector && findResource(one, url) !== undefined);
}

/** Somebody may have put a value in the place of a name. */
function unknownApp(app: string): string {
  return /^[a-z0-9-]{1,64}$/.test(app)
    ? `names the app ${app}, which is not in APPS`
    : 'has a name that no app can have: 1 to 64 of a-z, 0-9 and -, as in APPS';
}

function fault(problem: string): ConfigError {
  return new ConfigError([{ name: 'CLIENTS', problem }]);
}
