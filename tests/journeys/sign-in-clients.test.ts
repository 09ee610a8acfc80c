import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { answer, CLIENTS, clientsFile, OPENID_VARS, SECRETS } from '../support/openid.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';
import {
  type AppSettings,
  authJs,
  BACKS,
  betterAuthOf,
  oauth4webapi,
  openIdClient,
  passport,
  type SignIn,
  type Visit,
} from '../tools/sign-in-clients.ts';

// Published clients, as their packages are, sign a person in. Each judges the vault's answers by its own rules: tokens by
// the time of this machine, so the vault's clock begins there.

const chain = await startRelayChain({ startsAt: Date.now() });
afterAll(chain.stop);

let t: TestVault;
let alice: Candidate;
beforeAll(async () => {
  const clients = Object.entries(CLIENTS).map(([app, entry]) => [app, { ...entry, redirect_uris: BACKS }]);
  const clock = testClock(Date.now());
  t = await startVault({ ...chain.vars, ...OPENID_VARS }, { ...clientsFile(Object.fromEntries(clients)), clock });
  alice = await registerNewcomer(chain, t);
});
afterAll(() => t.stop());

/** Follows the app's link as a browser does, and has the passkey sign on the page that it leads to. */
const visitWith =
  (more: Parameters<typeof answer>[3] = {}): Visit =>
  async (link) => {
    const { origin, pathname, search } = new URL(link);
    expect([origin, pathname]).toEqual([originOf(t), '/authorize']);
    const page = await t.call(`GET ${pathname}${search}`);
    if (page.status === 303) return page.headers.get('location') ?? '';
    const { body } = await answer(t, alice, { query: search.slice(1) }, more);
    return body.location;
  };
const cancel: Visit = async (link) => {
  const request = new URL(link).search.slice(1);
  return (await t.call('POST /authorize/code', { request, cancelled: true })).body.location;
};

const appOf = (clientId: keyof typeof CLIENTS): AppSettings => ({
  issuer: originOf(t),
  clientId,
  ...(clientId === 'page' ? {} : { secret: SECRETS[clientId] }),
});

describe('a published client signs a person in', () => {
  test.each<[string, keyof typeof CLIENTS, SignIn]>([
    ['openid-client, client_secret_basic', 'tea', openIdClient()],
    ['openid-client, client_secret_post', 'tea', openIdClient({ isPosted: true })],
    ['openid-client, a public client', 'page', openIdClient()],
    ['openid-client, a secret without PKCE', 'wiki', openIdClient({ hasPkce: false })],
    ['openid-client, max_age', 'tea', openIdClient({ more: { max_age: '3600' } })],
    ['oauth4webapi', 'tea', oauth4webapi],
    ['Auth.js, out of the box', 'tea', authJs()],
    ['Auth.js, with state and nonce', 'tea', authJs({ checks: ['pkce', 'state', 'nonce'] })],
    ['Auth.js, client_secret_post', 'tea', authJs({ client: { token_endpoint_auth_method: 'client_secret_post' } })],
    ['better-auth', 'tea', betterAuthOf()],
    ['better-auth, without PKCE', 'wiki', betterAuthOf({ pkce: false })],
    ['passport-openidconnect, which has no PKCE', 'wiki', passport],
  ])('%s', async (_, app, signIn) => {
    const found = await signIn(appOf(app), visitWith());
    expect(found).toEqual({ sub: expect.stringMatching(/^[\w-]{43}$/), email: String(alice.body['identifier']) });
  });
});

describe('a published client says what it was refused', () => {
  const FORGED = openIdClient({ change: (url) => url.searchParams.set('iss', 'https://elsewhere.example') });
  test.each<[string, SignIn, keyof typeof CLIENTS, Visit, string]>([
    ['openid-client: no PKCE', openIdClient({ hasPkce: false }), 'tea', visitWith(), 'code_challenge is missing'],
    ['openid-client: a mix-up of providers', FORGED, 'tea', visitWith(), 'issuer'],
    ['oauth4webapi: the person cancels', oauth4webapi, 'tea', cancel, 'the person cancelled'],
    ['Auth.js: the person cancels', authJs(), 'tea', cancel, 'the person cancelled'],
    ['better-auth: no address is given', betterAuthOf(), 'tea', visitWith({ identifiers: { email: null } }), 'email'],
    ['passport-openidconnect: no PKCE', passport, 'tea', visitWith(), 'code_challenge is missing'],
    ['passport-openidconnect: the person cancels', passport, 'wiki', cancel, 'the person cancelled'],
  ])('%s', async (_, signIn, app, visit, words) => {
    const error = await signIn(appOf(app), visit).then(
      () => undefined,
      (thrown: Error & { error_description?: string }) => thrown,
    );
    const said = [error?.message, error?.error_description, (error?.cause as Error | undefined)?.message].join(' ');
    expect(said).toContain(words);
  });
});
