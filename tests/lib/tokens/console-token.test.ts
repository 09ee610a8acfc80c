import { beforeAll, describe, expect, test } from 'bun:test';
import { systemRandom } from '../../../lib/base/random.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { operatorDid } from '../../../lib/identity/did-document.ts';
import { createKeys } from '../../../lib/identity/keys.ts';
import { type ConsoleScope, checkConsoleToken, mintConsoleToken } from '../../../lib/tokens/console-token.ts';
import { mintDelegation, mintInvocation, type NewDelegation, type NewInvocation } from '../../../lib/ucan/mint.ts';
import { ed25519Signer, type UcanSigner } from '../../../lib/ucan/signature.ts';
import { testClock } from '../../support/clock.ts';
import { newSigner } from '../../support/ucan.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const clock = testClock();
const config = readConfig({ VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') });
const keys = createKeys(config.vaultSecret);
const vault = { keys, random: systemRandom, config };
const did = operatorDid(vault);

let own: UcanSigner;
let dashboard: UcanSigner;
beforeAll(async () => {
  own = await ed25519Signer(keys.operatorSeed);
  dashboard = await newSigner('P-256');
});

/** `ok`, or the error. */
async function ask(
  token: string | undefined,
  app = 'default',
  channels: readonly string[] = ['audit'],
  now = clock.now(),
) {
  const verdict = await checkConsoleToken(vault, token, { app, channels, now });
  return verdict.ok ? 'ok' : verdict.error;
}

const mint = async (scope: ConsoleScope) => (await mintConsoleToken(vault, scope, clock.now())).token;

async function invoke(parts: Partial<NewInvocation> = {}): Promise<string> {
  const common = { subject: did, command: '/vault/console/events/read', args: { app: 'default' } };
  const { token } = await mintInvocation({
    key: own,
    ...common,
    expiresAt: clock.now() + 60_000,
    nonce: systemRandom(12),
    ...parts,
  });
  return token;
}

async function delegate(parts: Partial<NewDelegation> = {}): Promise<Uint8Array> {
  const common = {
    audience: dashboard.did,
    subject: did,
    command: '/vault/console',
    policy: [['==', '.app', 'default']],
  };
  const { bytes } = await mintDelegation({
    key: own,
    ...common,
    expiresAt: clock.now() + 3_600_000,
    nonce: systemRandom(12),
    ...parts,
  });
  return bytes;
}

describe("the vault's own token", () => {
  test('opens the stream of its app for 300 seconds, exactly', async () => {
    const { token, expires_at } = await mintConsoleToken(vault, { app: 'default' }, clock.now());
    const endsAt = Date.parse(expires_at);
    expect(endsAt).toBeGreaterThan(clock.now() + 299_000 - 1);
    expect(endsAt).toBeLessThanOrEqual(clock.now() + 300_000);
    const verdict = await checkConsoleToken(vault, token, {
      app: 'default',
      channels: ['audit', 'sessions'],
      now: clock.now(),
    });
    expect(verdict).toEqual({
      ok: true,
      cid: expect.stringMatching(/^zdpu/),
      cids: [expect.any(String)],
      expiresAt: endsAt,
    });
    expect(await ask(token, 'default', ['audit'], endsAt - 1)).toBe('ok');
    expect(await ask(token, 'default', ['audit'], endsAt)).toBe('token_expired');
    expect(await ask(token, 'default', ['audit'], endsAt + 3_600_000)).toBe('token_expired');
  });

  test('is another each time', async () => {
    expect(await mint({ app: 'default' })).not.toBe(await mint({ app: 'default' }));
  });

  test('is good for its own app and channel only, and without a channel for all', async () => {
    const all = await mint({ app: 'shop' });
    const audit = await mint({ app: 'shop', channel: 'audit' });
    expect(await ask(all, 'shop', ['audit', 'sessions'])).toBe('ok');
    expect(await ask(all, 'default', ['audit'])).toBe('token_scope');
    expect(await ask(audit, 'shop', ['audit'])).toBe('ok');
    expect(await ask(audit, 'shop', ['sessions'])).toBe('token_scope');
    expect(await ask(audit, 'shop', ['audit', 'sessions'])).toBe('token_scope');
    expect(await ask(audit, 'shop', [])).toBe('token_scope');
  });

  test('is nothing to a vault with another secret', async () => {
    const other = { ...vault, keys: createKeys(new Uint8Array(32).fill(7)) };
    const token = await mint({ app: 'default' });
    const verdict = await checkConsoleToken(other, token, { app: 'default', channels: ['audit'], now: clock.now() });
    expect(verdict).toEqual({ ok: false, error: 'token_invalid' });
  });
});

describe('refused', () => {
  test.each<[string, string, () => Promise<string | undefined> | string | undefined]>([
    ['token_missing', 'no token', () => undefined],
    ['token_missing', 'an empty one', () => ''],
    ['token_invalid', 'any text', () => 'Bearer x'],
    ['token_invalid', 'one that never ends', () => invoke({ expiresAt: null })],
    [
      'token_invalid',
      'one that lives longer than 300 seconds and a minute',
      () => invoke({ expiresAt: clock.now() + 362_000 }),
    ],
    ['token_invalid', 'one for another', () => invoke({ audience: dashboard.did })],
    ['token_invalid', 'one about another', () => invoke({ key: dashboard, subject: dashboard.did, audience: did })],
    ['token_invalid', 'one by another without a delegation', () => invoke({ key: dashboard })],
    ['token_expired', 'one past its end', () => invoke({ expiresAt: clock.now() - 1_000 })],
    ['token_scope', 'another command', () => invoke({ command: '/vault/console/events/write' })],
    ['token_scope', 'a wider command', () => invoke({ command: '/vault/console' })],
    ['token_scope', 'no app', () => invoke({ args: {} })],
    ['token_scope', 'an argument that is not known', () => invoke({ args: { app: 'default', until: 1 } })],
    ['token_scope', 'a channel that is no text', () => invoke({ args: { app: 'default', channel: null } })],
    ['token_scope', 'a list of channels', () => invoke({ args: { app: 'default', channel: ['audit'] } })],
  ])('%s: %s', async (error, _, token) => {
    expect(await ask(await token())).toBe(error);
  });
});

describe('a dashboard with a delegation', () => {
  const byDashboard = async (parts: Partial<NewDelegation> = {}, invocation: Partial<NewInvocation> = {}) =>
    invoke({ key: dashboard, proofs: [await delegate(parts)], ...invocation });

  test('makes its own tokens, for what it was delegated', async () => {
    expect(await ask(await byDashboard())).toBe('ok');
    expect(await ask(await byDashboard({}, { args: { app: 'shop' } }), 'shop')).toBe('token_scope');
    expect(await ask(await byDashboard({ command: '/vault/other' }))).toBe('token_scope');
    expect(await ask(await byDashboard({ command: '/vault/console/events/rea' }))).toBe('token_scope');
    expect(await ask(await byDashboard({ audience: own.did }))).toBe('token_invalid');
  });

  test('reads no longer than its delegation lasts, and has a clock up to a minute ahead', async () => {
    const ends = Math.floor(clock.now() / 1000) * 1000 + 30_000;
    const verdict = await checkConsoleToken(vault, await byDashboard({ expiresAt: ends }), {
      app: 'default',
      channels: [],
      now: clock.now(),
    });
    expect(verdict).toMatchObject({ ok: true, expiresAt: ends });
    expect(await ask(await byDashboard({ expiresAt: clock.now() - 2_000 }))).toBe('token_expired');
    expect(await ask(await byDashboard({ expiresAt: ends }, { expiresAt: null }))).toBe('token_invalid');
    expect(await ask(await byDashboard({}, { expiresAt: clock.now() + 360_000 }))).toBe('ok');
  });

  test('tells all names of the chain, by any of which it may be revoked', async () => {
    const proof = await mintDelegation({
      key: own,
      audience: dashboard.did,
      subject: did,
      command: '/vault/console',
      policy: [],
      expiresAt: null,
      nonce: systemRandom(12),
    });
    const token = await invoke({ key: dashboard, proofs: [proof.bytes] });
    const verdict = await checkConsoleToken(vault, token, { app: 'default', channels: [], now: clock.now() });
    expect(verdict.ok && verdict.cids).toContain(proof.cid);
    expect(verdict.ok && verdict.cids).toContain(verdict.ok ? verdict.cid : '');
    expect(verdict.ok && verdict.cids).toHaveLength(3);
  });
});
