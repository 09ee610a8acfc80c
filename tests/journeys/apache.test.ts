import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Apache, apache, prepareApache } from '../support/apache.ts';
import { type Candidate, type RelayChain, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/databases.ts';
import { answer, CLIENTS, clientsFile, OPENID_VARS, SECRETS } from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// Debian's mod_auth_openidc, as its package is, signs people in for an app behind it, by the lines of the document. It
// judges tokens by the time of this machine, so the vault's clock begins there.

describe.skipIf(!apache)('an app behind Apache with mod_auth_openidc', () => {
  const folder = temporaryFolder();
  /** What the app was asked, and whom the proxy named. */
  const asked: Readonly<Record<string, string | null>>[] = [];
  const app = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url, headers }) {
      const [user, email] = ['x-remote-user', 'oidc_claim_email'].map((name) => headers.get(name));
      asked.push({ path: new URL(url).pathname, user: user ?? null, email: email ?? null });
      return new Response('The wiki');
    },
  });
  let chain: RelayChain;
  let proxy: Apache;
  let t: TestVault;
  let alice: Candidate;
  beforeAll(async () => {
    chain = await startRelayChain({ startsAt: Date.now() });
    proxy = prepareApache(folder.path, SECRETS.wiki);
    const clients = { ...CLIENTS, wiki: { ...CLIENTS.wiki, redirect_uris: [proxy.redirectUri] } };
    const clock = testClock(Date.now());
    t = await startVault({ ...chain.vars, ...OPENID_VARS }, { ...clientsFile(clients), clock });
    alice = await registerNewcomer(chain, t);
    await proxy.start(originOf(t), `http://127.0.0.1:${app.port}`);
  });
  afterAll(async () => {
    await proxy?.stop();
    await t?.stop();
    await chain?.stop();
    await app.stop(true);
    folder.remove();
  });

  /** A browser: it keeps cookies, and says that it navigates. */
  const browse = () => {
    const jar = new Map<string, string>();
    return async (url: string) => {
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
      const headers = { cookie, accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
      const response = await fetch(url, { headers, redirect: 'manual' });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        jar.set(name, value);
      }
      return { status: response.status, text: await response.text(), location: response.headers.get('location') };
    };
  };
  const linkFrom = async (visit: ReturnType<typeof browse>, path: string) => {
    const { status, location } = await visit(`${proxy.url}${path}`);
    expect([status, location]).toEqual([302, expect.stringContaining(`${originOf(t)}/authorize?`)]);
    return new URL(location ?? '').search.slice(1);
  };

  test('who opens a page signs in at the vault and comes back to it, named by sub', async () => {
    const visit = browse();
    const query = await linkFrom(visit, '/page?of=the+wiki');
    const parameters = new URLSearchParams(query);
    expect(parameters.get('code_challenge_method')).toBe('S256');
    for (const name of ['state', 'nonce']) expect(parameters.get(name)).toMatch(/^[\w-]{20,}$/);
    expect(asked).toEqual([]);
    const { body } = await answer(t, alice, { query });
    const back = await visit(body.location);
    expect([back.status, back.location, proxy.log()]).toEqual([302, `${proxy.url}/page?of=the+wiki`, proxy.log()]);
    expect(await visit(`${proxy.url}/page?of=the+wiki`)).toMatchObject({ status: 200, text: 'The wiki' });
    const email = String(alice.body['identifier']);
    expect(asked).toEqual([{ path: '/page', user: expect.stringMatching(/^[\w-]{43}/), email }]);
    asked.length = 0;
  });

  test('who claims a user by a header is asked to sign in, and the app hears nothing', async () => {
    const headers = { 'x-remote-user': 'alice', accept: 'text/html', 'sec-fetch-mode': 'navigate' };
    const { status } = await fetch(`${proxy.url}/page`, { headers, redirect: 'manual' });
    expect([status, asked]).toEqual([302, []]);
  });

  test('after Cancel nobody is signed in; the version of Debian 12 misreads the error, as the document says', async () => {
    const visit = browse();
    const query = await linkFrom(visit, '/page');
    const { body } = await t.call('POST /authorize/code', { request: query, cancelled: true });
    expect(new URL(body.location).searchParams.get('error')).toBe('access_denied');
    const back = await visit(body.location);
    expect(back.text).toMatch(/target_link_uri|the person cancelled/);
    expect((await visit(`${proxy.url}/page`)).status).toBe(302);
    expect(asked).toEqual([]);
  });
});
