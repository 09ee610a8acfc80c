// A module Worker (workerd, Workers): bindings are the settings, the database a libSQL server. The edge in front overwrites `CLIENT_IP_HEADER`.
import { createClient } from '@libsql/client/web';
import { createVault, type Vault } from 'vault';

type Bindings = Record<string, string | undefined>;

let vault: Vault | undefined;

function vaultOf(vars: Bindings): Vault {
  const authToken = vars['DATABASE_AUTH_TOKEN'];
  vault ??= createVault({
    vars,
    database: createClient({ url: vars['DATABASE_URL'] ?? '', ...(authToken === undefined ? {} : { authToken }) }),
    trustClientIpHeader: true,
    isolatesRequests: true,
    log: (entry) => console.log(JSON.stringify(entry)),
  });
  return vault;
}

export default {
  fetch: (request: Request, vars: Bindings): Promise<Response> => vaultOf(vars).fetch(request),
  /** Bound to a cron trigger: the vault's background share. */
  scheduled: (_event: unknown, vars: Bindings): Promise<void> => vaultOf(vars).work(Date.now() + 25_000),
};
