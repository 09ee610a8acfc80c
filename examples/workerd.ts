// A module Worker (workerd, Workers): bindings are the settings, `ASSETS` the package's `dist/assets`, the database a
// libSQL server. The edge in front overwrites `CLIENT_IP_HEADER`.
import { createClient } from '@libsql/client/web';
import { type Assets, createVault, type Vault } from 'vault';

interface Bindings {
  readonly ASSETS?: Assets;
  readonly [setting: string]: string | Assets | undefined;
}

let vault: Vault | undefined;

function vaultOf({ ASSETS: assets, ...bindings }: Bindings): Vault {
  const vars = bindings as Record<string, string | undefined>;
  const authToken = vars['DATABASE_AUTH_TOKEN'];
  vault ??= createVault({
    vars,
    database: createClient({ url: vars['DATABASE_URL'] ?? '', ...(authToken === undefined ? {} : { authToken }) }),
    assets,
    trustClientIpHeader: true,
    isolatesRequests: true,
    log: (entry) => console.log(JSON.stringify(entry)),
  });
  return vault;
}

export default {
  fetch: (request: Request, bindings: Bindings): Promise<Response> => vaultOf(bindings).fetch(request),
  /** Bound to a cron trigger: the vault's background share. */
  scheduled: (_event: unknown, bindings: Bindings): Promise<void> => vaultOf(bindings).work(Date.now() + 25_000),
};
