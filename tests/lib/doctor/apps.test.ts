import { describe, expect, test } from 'bun:test';
import { readConfig } from '../../../lib/config/config.ts';
import { appChecks } from '../../../lib/doctor/apps.ts';
import { runChecks } from '../../../lib/doctor/finding.ts';
import type { StoredFacts, StoredSigningKey } from '../../../lib/doctor/stored.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { testClock } from '../../support/clock.ts';
import { examinedOf } from '../../support/doctor.ts';
import { CLIENTS, clientsFile, OPENID_VARS } from '../../support/openid.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const URL_OF_VAULT = 'https://vault.example';
const DISCOVERY = { issuer: URL_OF_VAULT, jwks_uri: `${URL_OF_VAULT}/jwks` };
const JWKS = { keys: [{ kty: 'RSA', kid: 'one', n: 'n1' }] };
const ONE = { kid: 'one', n: 'n1', signsFrom: 1 };

/** What the doctor says of the apps where the internet answers so. */
async function told(
  answers: Readonly<Record<string, unknown>>,
  clients: unknown = CLIENTS,
  baseUrl = URL_OF_VAULT,
  vars: Readonly<Record<string, string>> = {},
  signingKeys: readonly StoredSigningKey[] = [ONE],
) {
  const config = readConfig({
    ...OPENID_VARS,
    ...vars,
    VAULT_SECRET,
    BASE_URL: baseUrl,
    REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
    EMAIL_PROVIDER: 'none',
    SMS_PROVIDER: 'none',
    TRUSTED_PROXIES: 'none',
  });
  const fetch = (async (request: Request | string | URL) => {
    const url = new URL(request instanceof Request ? request.url : request);
    const body = answers[url.pathname];
    return body === undefined ? new Response('', { status: 404 }) : Response.json(body);
  }) as typeof globalThis.fetch;
  const stored = async () => ({ signingKeys }) as unknown as StoredFacts;
  const clock = testClock();
  const examined = { ...examinedOf(config, clientsFile(clients)), fetch, clock, stored };
  const findings = await runChecks(clock, appChecks(examined));
  return findings.map(({ state, text }) => `${state} ${text}`);
}

const served = { '/.well-known/openid-configuration': DISCOVERY, '/jwks': JWKS };
const TEA = { tea: CLIENTS.tea };

describe('the doctor on apps of CLIENTS', () => {
  test('says which sign people in, optional PKCE, loopback, and that apps find issuer and key', async () => {
    expect(await told(served)).toEqual([
      'ok 3 apps sign people in: tea, wiki, page',
      'warn without PKCE where they like: wiki',
      "warn redirect URIs on the person's own machine: page",
      `ok apps find the issuer ${URL_OF_VAULT} and its key`,
    ]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['nothing there', {}, `warn apps that read ${URL_OF_VAULT} find no OpenID Provider, or another issuer`],
    [
      'another issuer',
      { ...served, '/.well-known/openid-configuration': { issuer: `${URL_OF_VAULT}/` } },
      `warn apps that read ${URL_OF_VAULT} find no OpenID Provider, or another issuer`,
    ],
    ['no key', { ...served, '/jwks': { keys: [] } }, `warn apps find no key at ${URL_OF_VAULT}/jwks`],
    ['no key set', { ...served, '/jwks': undefined }, `warn apps find no key at ${URL_OF_VAULT}/jwks`],
  ])('says what apps do not find: %s', async (_, answers, text) => {
    expect(await told(answers, TEA)).toEqual(['ok 1 app signs people in: tea', text]);
  });

  test.each([
    [CLIENTS, 'ok agents of claude.ai, vscode.dev may use https://mcp.tea.example/mcp'],
    [{ page: CLIENTS.page }, 'warn agents of claude.ai, vscode.dev find no server that they may use'],
  ])('says which agents may use which servers', async (clients, text) => {
    const vars = { CLIENT_METADATA_HOSTS: 'claude.ai,vscode.dev' };
    expect(await told(served, clients, URL_OF_VAULT, vars)).toContain(text);
  });

  const LATER = testClock().now() + 1;
  test.each<[string, readonly StoredSigningKey[], string]>([
    ['another one', [{ kid: 'two', n: 'n2', signsFrom: 1 }], 'lacks the key that signs: apps refuse each sign-in'],
    ['the kid with another modulus', [{ ...ONE, n: 'n2' }], 'lacks the key that signs: apps refuse each sign-in'],
    ['no next one', [ONE, { kid: 'two', n: 'n2', signsFrom: LATER }], 'lacks a key of ID tokens: apps will refuse'],
    ['no former one', [{ kid: 'zero', n: 'n0', signsFrom: 0 }, ONE], 'lacks a key of ID tokens: apps will refuse'],
    ['a next one as the only one', [{ ...ONE, signsFrom: LATER }], `apps find the issuer ${URL_OF_VAULT} and its key`],
    ['none in the database yet', [], `apps find the issuer ${URL_OF_VAULT} and its key`],
  ])('compares the keys that apps read with those of the database: %s', async (_, keys, text) => {
    expect((await told(served, TEA, URL_OF_VAULT, {}, keys))[1]).toContain(text);
  });

  test('says that apps still take what a replaced key signs', async () => {
    const both = { keys: [...JWKS.keys, { kty: 'RSA', kid: 'stolen', n: 'n0' }] };
    const [, text] = await told({ ...served, '/jwks': both }, TEA);
    expect(text).toStartWith(`warn ${URL_OF_VAULT}/jwks has a key that the database does not have`);
  });

  test('on loopback nobody else reads the issuer, and its URIs are as they should be', async () => {
    const { page } = CLIENTS;
    expect(await told({}, { page }, 'http://localhost:8787')).toEqual(['ok 1 app signs people in: page']);
  });

  test('fails where the file is wrong, without a value of it', async () => {
    const [text = ''] = await told(served, { tea: { redirect_uris: ['http://secret.example/'] } });
    expect(text).toContain('fail CLIENTS is wrong for the app tea: each of redirect_uris must be');
    expect(text).not.toContain('secret.example');
  });
});
