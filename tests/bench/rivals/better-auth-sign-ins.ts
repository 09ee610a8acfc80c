import { request } from '../frame/load.ts';
import type { Target } from '../frame/target.ts';
import { ask, bodyOf, IP, type Provider } from '../sign-in-work.ts';

const BASE = '/api/auth';

/** better-auth as a provider, for one person whose session it keeps and whose consent it has: no page is shown. */
export async function betterAuthProvider(target: Target): Promise<Provider> {
  const { clientId, secret, cookie } = JSON.parse(await bodyOf(await ask(target, '/bench')));
  return {
    target,
    client: { id: clientId, secret },
    tokenPath: `${BASE}/oauth2/token`,
    userinfoPath: `${BASE}/oauth2/userinfo`,
    jwksPath: `${BASE}/jwks`,
    read: () => request('GET', `${BASE}/jwks`, { ip: IP }),
    open: () => Promise.resolve(),
    async answer(query) {
      const init = { headers: { Cookie: cookie } };
      const response = await ask(target, `${BASE}/oauth2/authorize?${query}`, init);
      await bodyOf(response, 302);
      return new URL(response.headers.get('location') ?? '');
    },
  };
}
