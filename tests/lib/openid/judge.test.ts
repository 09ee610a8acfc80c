import { describe, expect, test } from 'bun:test';
import type { Client } from '../../../lib/clients/client.ts';
import { answerLocation } from '../../../lib/openid/answer.ts';
import { judge, type ReturnPlace } from '../../../lib/openid/judge.ts';

const TEA: Client = {
  id: 'tea',
  redirectUris: ['https://tea.example/back', 'https://tea.example/in?from=vault'],
  secrets: ['sha256:00'],
  needsPkce: true,
  sector: 'tea',
  resources: [{ url: 'https://mcp.tea.example/mcp', scopes: ['notes:read', 'notes:write'], app: 'tea', sector: 'tea' }],
};
const WIKI: Client = { ...TEA, id: 'wiki', redirectUris: ['https://wiki.example/'], needsPkce: false, resources: [] };
const CLIENTS = new Map([TEA, WIKI].map((client) => [client.id, client]));

const CHALLENGE = 'x'.repeat(43);
const RIGHT = {
  client_id: 'tea',
  redirect_uri: 'https://tea.example/back',
  response_type: 'code',
  scope: 'openid email',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  state: 'a b',
};
const WITHOUT_PKCE = { code_challenge: undefined, code_challenge_method: undefined };
const OF_WIKI = { client_id: 'wiki', redirect_uri: 'https://wiki.example/' };

const MCP = 'https://mcp.tea.example/mcp';

/** The query of a right request with parameters changed, or left out where undefined; `more` follows as it is. */
function queryOf(change: Readonly<Record<string, string | undefined>> = {}, more = ''): string {
  const pairs = Object.entries({ ...RIGHT, ...change }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return `${new URLSearchParams(pairs)}${more}`;
}

/** What makes the query of a right request so long. */
const filling = (length: number) => `&x=${'y'.repeat(length - queryOf().length - 3)}`;

/** A name, what is expected, and the change. The rest parameter below keeps Bun from passing a callback. */
type Row<Expected extends string[]> = [string, ...Expected, Record<string, string | undefined>?, string?];

const judged = (change: Parameters<typeof queryOf>[0] = {}, more = '') => judge(CLIENTS, queryOf(change, more));

describe('§3 authorize: a page that leads nowhere', () => {
  test.each<Row<[string]>>([
    ['client_id absent', 'client_id_missing', { client_id: undefined }],
    ['client_id empty', 'client_id_missing', { client_id: '' }],
    ['client_id twice', 'client_id_twice', {}, '&client_id=tea'],
    ['client_id unknown', 'client_unknown', { client_id: 'shop' }],
    ['client_id in capitals', 'client_unknown', { client_id: 'TEA' }],
    ['client_id of every object', 'client_unknown', { client_id: '__proto__' }],
    ['redirect_uri absent', 'redirect_uri_missing', { redirect_uri: undefined }],
    ['redirect_uri twice', 'redirect_uri_twice', {}, '&redirect_uri=https%3A%2F%2Ftea.example%2Fback'],
    ['redirect_uri twice, once empty', 'redirect_uri_twice', {}, '&redirect_uri='],
    ['redirect_uri of another client', 'redirect_uri_unknown', { redirect_uri: 'https://wiki.example/' }],
    ['redirect_uri with a slash more', 'redirect_uri_unknown', { redirect_uri: 'https://tea.example/back/' }],
    ['redirect_uri with a query more', 'redirect_uri_unknown', { redirect_uri: 'https://tea.example/back?a=b' }],
    ['redirect_uri without its query', 'redirect_uri_unknown', { redirect_uri: 'https://tea.example/in' }],
    ['redirect_uri with a fragment', 'redirect_uri_unknown', { redirect_uri: 'https://tea.example/back#' }],
    ['redirect_uri with a user', 'redirect_uri_unknown', { redirect_uri: 'https://evil@tea.example/back' }],
    ['redirect_uri by its default port', 'redirect_uri_unknown', { redirect_uri: 'https://tea.example:443/back' }],
    ['redirect_uri in capitals', 'redirect_uri_unknown', { redirect_uri: 'https://TEA.example/back' }],
    ['redirect_uri with a backslash', 'redirect_uri_unknown', { redirect_uri: 'https://tea.example\\back' }],
    ['redirect_uri with a line break', 'redirect_uri_unknown', { redirect_uri: 'https://tea.example/back\r\nX: 1' }],
    [
      'redirect_uri percent-encoded twice',
      'redirect_uri_unknown',
      { redirect_uri: 'https%3A%2F%2Ftea.example%2Fback' },
    ],
    [
      'redirect_uri unknown and all else wrong',
      'redirect_uri_unknown',
      { redirect_uri: 'x', scope: '', prompt: 'none' },
    ],
    ['a query of 8,193 characters', 'query', {}, filling(8_193)],
    ['a half character', 'query', {}, '&x=\ud800'],
  ])('%s', (...[, fault, change, more]) => {
    expect(judged(change, more)).toMatchObject({ fault });
  });
});

describe('§3 authorize: errors that go to the redirect URI', () => {
  test.each<Row<[string, string]>>([
    ['any parameter twice', 'invalid_request', 'the parameter nonce is there twice', { nonce: 'a' }, '&nonce=b'],
    ['an unknown parameter twice', 'invalid_request', 'the parameter x?y is there twice', {}, '&x%22y=1&x%22y=1'],
    ['request', 'request_not_supported', 'request is not supported', { request: 'eyJ' }],
    ['request_uri', 'request_uri_not_supported', 'request_uri is not supported', { request_uri: 'https://x' }],
    ['registration', 'registration_not_supported', 'registration is not supported', { registration: '{}' }],
    ['response_type absent', 'invalid_request', 'response_type is missing', { response_type: undefined }],
    [
      'response_type not code',
      'unsupported_response_type',
      'response_type must be',
      { response_type: 'code id_token' },
    ],
    ['response_mode other than query', 'invalid_request', 'response_mode must be', { response_mode: 'form_post' }],
    ['scope absent', 'invalid_scope', 'scope must contain openid', { scope: undefined }],
    ['scope without openid', 'invalid_scope', 'scope must contain openid', { scope: 'email openid2' }],
    ['resource that nobody has', 'invalid_target', 'no server that', { resource: 'https://mcp.evil.example/mcp' }],
    ['resource of another client', 'invalid_target', 'no server that', { ...OF_WIKI, resource: MCP }],
    ['resource with a fragment', 'invalid_target', 'no server that', { resource: `${MCP}#x` }],
    ['resource that is no URL', 'invalid_target', 'no server that', { resource: 'mcp' }],
    ['resource twice', 'invalid_request', 'resource is there twice', { resource: MCP }, `&resource=${MCP}`],
    ['no code_challenge where demanded', 'invalid_request', 'code_challenge is missing', WITHOUT_PKCE],
    ['code_challenge not 43 characters', 'invalid_request', 'must have 43', { code_challenge: 'x'.repeat(44) }],
    ['method absent', 'invalid_request', 'code_challenge_method must be S256', { code_challenge_method: undefined }],
    ['method plain', 'invalid_request', 'code_challenge_method must be S256', { code_challenge_method: 'plain' }],
    ['method alone', 'invalid_request', 'without code_challenge', { code_challenge: undefined }],
    [
      'method alone, PKCE optional',
      'invalid_request',
      'without code_challenge',
      { ...OF_WIKI, code_challenge: undefined },
    ],
    ['method plain, PKCE optional', 'invalid_request', 'must be S256', { ...OF_WIKI, code_challenge_method: 'plain' }],
    ['prompt unknown', 'invalid_request', 'prompt must be of', { prompt: 'login maybe' }],
    ['prompt none with others', 'invalid_request', 'prompt=none goes with no other', { prompt: 'none login' }],
    ['max_age no integer', 'invalid_request', 'max_age must be seconds', { max_age: '-1' }],
    ['nonce too long', 'invalid_request', 'nonce must have at most', { nonce: 'n'.repeat(4_097) }],
    ['state too long', 'invalid_request', 'state must have at most', { state: 's'.repeat(4_097) }],
    ['prompt=none', 'login_required', 'there is no session', { prompt: 'none' }],
    ['prompt=none and any hint', 'login_required', 'there is no session', { prompt: 'none', id_token_hint: 'x' }],
  ])('%s', (...[, error, about, change, more]) => {
    const found = judged(change, more);
    const said = 'about' in found ? found.about : '';
    expect(found).toMatchObject({ error, about: expect.stringContaining(about) });
    expect(said).toMatch(/^[ !#-[\]-~]+$/);
  });

  test('state that is there twice is not given back, nor any other of it', () => {
    expect(judged({}, '&state=other')).toMatchObject({ error: 'invalid_request', place: { rawState: undefined } });
    expect(judged({ scope: '' })).toMatchObject({ error: 'invalid_scope', place: { rawState: 'a+b' } });
  });
});

describe('§3 authorize: requests in order', () => {
  test.each<[string, string | undefined, readonly string[], readonly string[]]>([
    ['no scope: no ID token, and all that the resource lists', undefined, [], ['notes:read', 'notes:write']],
    ['one of its scopes', 'notes:write email', [], ['notes:write']],
    ['OpenID’s too', 'email notes:read openid', ['openid', 'email'], ['notes:read']],
    ['a scope of another server', 'openid files', ['openid'], ['notes:read', 'notes:write']],
  ])('§12 resource with %s', (_, scope, scopes, granted) => {
    const resource = TEA.resources[0];
    for (const text of [MCP, 'https://MCP.tea.example:443/mcp'])
      expect(judged({ resource: text, scope })).toMatchObject({
        valid: { scopes, target: { resource, scopes: granted } },
      });
  });

  test('what was asked, of known scopes in one order', () => {
    expect(judged({ nonce: 'n', max_age: '60', scope: 'did  address openid offline_access email' })).toEqual({
      valid: {
        client: TEA,
        app: 'tea',
        target: undefined,
        redirectUri: RIGHT.redirect_uri,
        rawState: 'a+b',
        scopes: ['openid', 'email', 'did'],
        challenge: CHALLENGE,
        nonce: 'n',
        maxAge: 60,
        idTokenHint: undefined,
        isSignUp: false,
      },
    });
  });

  test.each<[string, Record<string, string | undefined>, object]>([
    ['neither state nor nonce', { state: undefined }, { rawState: undefined, nonce: undefined }],
    ['an empty state', { state: '' }, { rawState: undefined }],
    ['no PKCE where it is optional', { ...OF_WIKI, ...WITHOUT_PKCE }, { client: WIKI, challenge: null }],
    ['PKCE where it is optional', OF_WIKI, { challenge: CHALLENGE }],
    ['response_mode=query', { response_mode: 'query' }, {}],
    ['prompt=login consent select_account', { prompt: 'login consent select_account' }, { isSignUp: false }],
    ['prompt=create', { prompt: 'create' }, { isSignUp: true }],
    ['an id_token_hint, judged later', { id_token_hint: 'x.y.z' }, { idTokenHint: 'x.y.z' }],
    ['display, acr_values, claims and unknown ones', { display: 'popup', acr_values: '1', claims: '{', x: 'y' }, {}],
    ['an empty request', { request: '' }, {}],
    ['a redirect URI with a query', { redirect_uri: 'https://tea.example/in?from=vault' }, {}],
    ['state of 4,096 characters', { state: 's'.repeat(4_096) }, {}],
    ['nonce of 4,096 characters', { nonce: 'n'.repeat(4_096) }, {}],
  ])('%s', (_, change, expected) => {
    expect(judged(change)).toMatchObject({ valid: expected });
  });
});

test('a query of 8,192 characters is in order', () => {
  expect(judged({}, filling(8_192))).toHaveProperty('valid');
});

describe('what goes back to the client', () => {
  const locationOf = (place: Partial<ReturnPlace>) =>
    answerLocation(
      'https://vault.example',
      { client: TEA, redirectUri: 'https://tea.example/back', rawState: undefined, ...place },
      { code: 'c+/' },
    );

  test.each([
    ['https://tea.example/back', 'https://tea.example/back?'],
    ['https://tea.example/in?from=vault', 'https://tea.example/in?from=vault&'],
    ['https://tea.example/in?', 'https://tea.example/in?'],
    ['https://tea.example/in?a&', 'https://tea.example/in?a&'],
  ])('%s gets code and iss', (redirectUri, before) => {
    expect(locationOf({ redirectUri })).toBe(`${before}code=c%2B%2F&iss=https%3A%2F%2Fvault.example`);
  });

  test.each([
    ['a%20b+c', 'a%20b+c'],
    ['%FF', '%FF'],
    ['a;b', 'a%3Bb'],
    ['a\r\nSet-Cookie: x=y', 'a%0D%0ASet-Cookie:%20x%3Dy'],
    ['"<>', '%22%3C%3E'],
    ['ä😀', '%C3%A4%F0%9F%98%80'],
    ['a#b', 'a%23b'],
  ])('the state %j as it came, as far as it belongs into a URL', (state, expected) => {
    const query = `${queryOf({ state: undefined, scope: 'none' })}&state=${state}`;
    const found = judge(CLIENTS, query);
    const place = 'place' in found ? found.place : undefined;
    expect(new URL(locationOf({ rawState: place?.rawState })).search).toBe(
      `?code=c%2B%2F&state=${expected.replaceAll("'", '%27')}&iss=https%3A%2F%2Fvault.example`,
    );
  });
});
