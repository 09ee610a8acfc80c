import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { fromHex } from '../../lib/base/bytes.ts';
import { DAY_MS } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { systemRandom } from '../../lib/base/random.ts';
import type { Config } from '../../lib/config/config.ts';
import { createStore } from '../../lib/db/store.ts';
import { createKeys } from '../../lib/identity/keys.ts';
import { addKey, createKeyFacts, readKeys } from '../../lib/signing/signing-keys.ts';
import { ADA, createHolder, credentialFor, type Holder, keyProof, partsOfCredential } from '../support/credentials.ts';
import { settled } from '../support/settled.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';
import { sdJwt } from '../tools/credential-clients.ts';

const ROOM = { MAX_VERIFY_SENDS_PER_IP: '1000', RATE_LIMIT_CODES_PER_IDENTIFIER: '1000' };

let t: TestVault;
let holder: Holder;
beforeEach(async () => {
  t = await startVault(ROOM);
  holder = await createHolder();
});
afterEach(() => t.stop());

/** As `vault keys rotate --credentials --now` beside running vaults; the former key stays published unless it `endsNow`. */
async function replaceKey(endsNow = true): Promise<boolean> {
  const [metrics, { clock }] = [createMetrics(), t];
  const ctx = {
    ...{ config: {} as Config, clock, random: systemRandom, metrics, keyFacts: createKeyFacts() },
    db: createStore({ database: t.database, clock, metrics, maxConnections: 1 }),
    keys: createKeys(fromHex(VAULT_SECRET) ?? new Uint8Array()),
    log: () => undefined,
  };
  return addKey(ctx, 'ES256', await readKeys(ctx, 'ES256'), { signsFrom: clock.now(), endsNow });
}

const verify = (credential: string) =>
  sdJwt(originOf(t)).verify(credential, { currentDate: Math.floor(t.clock.now() / 1000) });
const kidOf = (credential: string) => String(partsOfCredential(credential).header?.['kid']);

describe('the keys of credentials', () => {
  test('stolen signing key: rotated at once it leaves the list, and all that it signed is refused', async () => {
    const before = await credentialFor(t, holder);
    await verify(before);
    await replaceKey();
    await t.clock.advance(1_000);
    expect(await settled(verify(before))).toThrow();
    const after = await credentialFor(t, holder);
    await verify(after);
    expect(kidOf(after)).not.toBe(kidOf(before));
  });

  test('two processes with different key lists during a rotation: each signs by what both publish', async () => {
    const other = await startVault({ ...ROOM, BASE_URL: originOf(t) }, { database: t.database, clock: t.clock });
    const vaults = [t, other];
    await Promise.all(vaults.map((one) => one.call('GET /.well-known/jwt-vc-issuer')));
    // Ninety days, the lead of the next key, and what the former one signed last.
    for (const days of [90, 1, 1, 7, 1]) {
      await t.clock.advance(days * DAY_MS);
      await Promise.all(vaults.map((one) => one.work()));
      await t.clock.advance(1_000);
      const made = await Promise.all(
        vaults.map(async (one, i) => {
          const who = { channel: 'email', identifier: `ada${i}@example.com` };
          const sent = await one.call('POST /api/verify/send', { ...who, purpose: 'credential' });
          const { challenge } = sent.body;
          const own = { challenge, purpose: 'credential', holder: await keyProof(t, holder, challenge) };
          const code = one.codeFor(who.identifier);
          return (await one.call('POST /api/verify/check', { ...who, code, ...own })).body.credential as string;
        }),
      );
      expect(kidOf(made[1] ?? '')).toBe(kidOf(made[0] ?? ''));
      for (const one of made) await verify(one);
    }
    expect(await t.rows("SELECT count(*) AS n FROM signing_keys WHERE alg = 'ES256'")).not.toEqual([{ n: 1 }]);
    await other.stop();
  });

  test('rotation under load: not one credential is by a key that is not published', async () => {
    const codes = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const who = { channel: 'email', identifier: `load${i}@example.com` };
        const { body } = await t.call('POST /api/verify/send', { ...who, purpose: 'credential' });
        return { ...who, challenge: body.challenge as string, code: t.codeFor(who.identifier) };
      }),
    );
    await t.call('GET /.well-known/jwt-vc-issuer');
    const asked = codes.map(async (one, i) => {
      // Another one may be faster.
      if (i % 10 === 5) while (!(await replaceKey(false)));
      const own = { purpose: 'credential', holder: await keyProof(t, holder, one.challenge) };
      return t.call('POST /api/verify/check', { ...one, ...own });
    });
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await t.clock.advance(1_000);
    for (const { body } of answers) await verify(body.credential);
    expect((await t.rows('SELECT kid FROM signing_keys')).length).toBe(5);
  });
});

test('confusion of tokens: a credential is no attestation, no key proof and no token, and none of those is one', async () => {
  const credential = await credentialFor(t, holder);
  const [token = ''] = credential.split('~');
  const { body } = await t.call('POST /api/verify/send', { ...ADA, purpose: 'credential' });
  const request = { ...ADA, code: t.codeFor(ADA.identifier), challenge: body.challenge, purpose: 'credential' };
  for (const text of [credential, token]) {
    const asProof = await t.call('POST /api/verify/check', { ...request, holder: text });
    expect([asProof.body.error, ['typ', 'form'].includes(asProof.body.reason)]).toEqual(['proof_invalid', true]);
    const asToken = await t.call('GET /v1/console/limits', {}, { authorization: `Bearer ${text}` });
    expect(asToken.status).toBe(401);
    const asAttestation = { ...ADA, credentialId: 'A'.repeat(22), did: 'did:key:z1', txHash: `0x${'a1'.repeat(32)}` };
    const registered = await t.call('POST /api/dids', { ...asAttestation, attestation: text });
    expect([registered.status, registered.body.error]).toEqual([403, 'attestation_invalid']);
  }
  const proof = await keyProof(t, holder, 'n');
  expect(await settled(verify(`${proof}~`))).toThrow();
});
