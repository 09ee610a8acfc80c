import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { OPERATOR } from '../../support/events.ts';
import { clientsFile, OPENID_VARS } from '../../support/openid.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

const VARS = {
  ...OPENID_VARS,
  REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
  DID_REGISTRY_ADDRESS: undefined,
  ID_TOKEN_SECONDS: '1800',
};

let t: TestVault;
beforeEach(async () => {
  t = await startVault(VARS, clientsFile());
});
afterEach(() => t.stop());

const kidsOf = async (vault: TestVault): Promise<string[]> =>
  (await vault.call('GET /jwks')).body.keys.map(({ kid }: { kid: string }) => kid);
const beside = (vars: Record<string, string> = {}) =>
  startVault({ ...VARS, ...vars }, { ...clientsFile(), database: t.database, clock: t.clock });
const rows = () => t.rows('SELECT kid, signs_from, ends_at FROM signing_keys ORDER BY made_at');

describe('the keys that sign ID tokens', () => {
  test('the first one is made once, by two vaults that are asked at the same time', async () => {
    const other = await beside();
    const [mine, theirs] = await Promise.all([kidsOf(t), kidsOf(other)]);
    await other.stop();
    expect(mine).toHaveLength(1);
    expect(theirs).toEqual(mine);
    expect(await rows()).toMatchObject([{ kid: mine[0], ends_at: null }]);
    expect(await t.rows("SELECT 1 FROM events WHERE type = 'key.rotated'")).toEqual([]);
  });

  test('the private half is stored sealed', async () => {
    await kidsOf(t);
    const [{ sealed = '' } = {}] = await t.rows('SELECT sealed FROM signing_keys');
    // PKCS #8 of RSA begins with the same bytes each time.
    expect(Buffer.from(String(sealed), 'base64url').subarray(12).toString('hex')).not.toStartWith('30820');
  });

  test('a private half that stands under another kid is opened by nobody: its kid is sealed with it', async () => {
    await kidsOf(t);
    await t.clock.advance(90 * DAY_MS);
    await t.work();
    const [first, second] = await rows();
    // Who can write to the database puts a key that they know under the kid that apps trust.
    await t.rows(
      'UPDATE signing_keys SET sealed = (SELECT sealed FROM signing_keys WHERE kid = :from) WHERE kid = :to',
      {
        ...{ from: String(first?.['kid']), to: String(second?.['kid']) },
      },
    );
    const other = await beside();
    const kids = await kidsOf(other);
    const keys = (await other.call('GET /v1/console/apps', {}, OPERATOR)).body.signing_keys;
    await other.stop();
    expect(kids).toHaveLength(2);
    expect(keys.map(({ kid, state }: Record<string, string>) => [kid, state])).toEqual([
      [second?.['kid'], 'sealed'],
      [first?.['kid'], 'signing'],
    ]);
  });

  test('vault_signing_key_age_seconds: how long the key has signed', async () => {
    await kidsOf(t);
    const age = async () => {
      await t.work();
      const { text } = await t.call('GET /metrics');
      return /^vault_signing_key_age_seconds\{alg="RS256"\} (\S+)$/m.exec(text)?.[1];
    };
    expect(await age()).toBe('0');
    await t.clock.advance(DAY_MS);
    expect(await age()).toBe('86400');
    // The next one is published, and signs a day later.
    await t.clock.advance(89 * DAY_MS);
    expect(await age()).toBe(String(90 * 86_400));
    await t.clock.advance(DAY_MS + 1_000);
    expect(await age()).toBe('1');
  });

  test('after SIGNING_KEY_DAYS the next one is published, signs a day later, and the old one stays a day longer', async () => {
    const [first] = await kidsOf(t);
    await t.work();
    expect(await kidsOf(t)).toEqual([first ?? '']);
    await t.clock.advance(90 * DAY_MS);
    const now = t.clock.now();
    await t.work();
    await t.clock.advance(1_000);
    const both = await kidsOf(t);
    expect(both).toHaveLength(2);
    expect(await rows()).toMatchObject([
      { kid: first, ends_at: now + DAY_MS + 1_800_000 + DAY_MS },
      { signs_from: now + DAY_MS, ends_at: null },
    ]);
    expect(await t.rows("SELECT data FROM events WHERE type = 'key.rotated'")).toEqual([{ data: '{"key":"signing"}' }]);
    await t.clock.advance(2 * DAY_MS + 1_800_000);
    await t.work();
    expect(await kidsOf(t)).toEqual(both.filter((kid) => kid !== first));
  });

  test('a vault with another VAULT_SECRET makes a key of its own, says so, and both go on', async () => {
    const [first] = await kidsOf(t);
    const other = await beside({ VAULT_SECRET: VAULT_SECRET.replace('01', '10') });
    const kids = await kidsOf(other);
    expect(kids).toHaveLength(2);
    expect(kids).toContain(first ?? '');
    expect(other.entries.filter(({ event }) => event === 'signing_key_sealed')).toHaveLength(1);
    await t.clock.advance(1_000);
    expect((await kidsOf(t)).toSorted()).toEqual(kids.toSorted());
    await other.stop();
  });
});
