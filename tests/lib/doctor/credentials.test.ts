import { describe, expect, test } from 'bun:test';
import { readConfig } from '../../../lib/config/config.ts';
import { credentialChecks } from '../../../lib/doctor/credentials.ts';
import { runChecks } from '../../../lib/doctor/finding.ts';
import type { StoredFacts, StoredSigningKey } from '../../../lib/doctor/stored.ts';
import { testClock } from '../../support/clock.ts';
import { examinedOf } from '../../support/doctor.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const ISSUER = 'https://vault.example';
const ONE = { kid: 'one', x: 'x1', signsFrom: 1 };
const served = (keys: readonly object[] = [{ kty: 'EC', kid: 'one', x: 'x1', y: 'y1' }], issuer = ISSUER) => ({
  issuer,
  jwks: { keys },
});

/** What the doctor says where verifiers are answered so. */
async function told(
  answer: object | Error | undefined,
  credentialKeys: readonly StoredSigningKey[] = [ONE],
  vars: Readonly<Record<string, string>> = {},
) {
  const config = readConfig({
    ...{ VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') },
    ...{ BASE_URL: ISSUER, EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none', TRUSTED_PROXIES: 'none' },
    ...vars,
  });
  const fetch = (async (request: Request | string | URL) => {
    const url = new URL(request instanceof Request ? request.url : request);
    if (answer instanceof Error) throw answer;
    const isThere = answer !== undefined && url.pathname === '/.well-known/jwt-vc-issuer';
    return isThere ? Response.json(answer) : new Response('', { status: 404 });
  }) as typeof globalThis.fetch;
  const clock = testClock();
  const stored = async () => ({ credentialKeys }) as unknown as StoredFacts;
  const findings = await runChecks(clock, credentialChecks({ ...examinedOf(config), fetch, clock, stored }));
  return findings.map(({ name, state, text }) => `${name} ${state} ${text}`);
}

describe('the doctor on the issuer of credentials', () => {
  const LATER = testClock().now() + 1;
  const NEXT = { kid: 'two', x: 'x2', signsFrom: LATER };
  test.each<[string, Parameters<typeof told>[0], readonly StoredSigningKey[], string]>([
    ['it is there', served(), [ONE], `ok verifiers find the issuer ${ISSUER} and its key`],
    ['none was made yet', served(), [], `ok verifiers find the issuer ${ISSUER} and its key`],
    ['nothing there', undefined, [ONE], `warn verifiers that read ${ISSUER} find no issuer of credentials`],
    ['another issuer', served([], 'https://a.example'), [ONE], `warn verifiers that read ${ISSUER} find no issuer`],
    ['no key', served([]), [ONE], 'warn verifiers find no key at'],
    ['the kid with another point', served(), [{ ...ONE, x: 'x2' }], 'lacks the key that signs: verifiers refuse each'],
    ['no next one', served(), [ONE, NEXT], 'lacks a key of credentials: verifiers will refuse'],
    [
      'a replaced one still',
      served([ONE, { kid: 'stolen', x: 'x0' }]),
      [ONE],
      'has a key that the database does not have: verifiers still take what it signs',
    ],
    ['no answer', new TypeError('fetch failed'), [ONE], `warn verifiers cannot read the issuer ${ISSUER}`],
  ])('%s', async (_, answer, keys, text) => {
    const [finding = '', ...others] = await told(answer, keys);
    expect(finding).toContain(text);
    expect(others).toEqual([]);
  });

  test('says nothing on loopback, and where none are issued', async () => {
    expect(await told(served(), [ONE], { BASE_URL: 'http://localhost:8787' })).toEqual([]);
    expect(await told(served(), [ONE], { CREDENTIAL_TTL_SECONDS: '0' })).toEqual([]);
  });
});
