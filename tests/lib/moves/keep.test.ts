// A holder asks for a code of a claimed address by its passkey, though others have used up its sends (completions-3, 2.2).
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOUR_MS, MINUTE_MS } from '../../../lib/base/clock.ts';
import { CHALLENGE_VARS, createChallenges, timeOfHead } from '../../support/challenges.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { OPERATOR } from '../../support/events.ts';
import { startTestChain } from '../../support/onchain.ts';
import type { Passkey } from '../../support/passkey.ts';
import type { Person } from '../../support/people.ts';
import { signLines } from '../../support/touch.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startTestChain();
afterAll(chain.stop);

let dir: string;
let t: TestVault;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'vault-keep-'));
  t = await open({}, testClock(await timeOfHead(chain)));
});
afterEach(async () => {
  await t.stop();
  rmSync(dir, { recursive: true });
});

const open = (vars: Record<string, string>, clock: TestClock) =>
  startVault({ ...chain.vars, ...CHALLENGE_VARS, ...vars }, { dir, clock });

const people = createChallenges(chain, () => t);

/** From now on an address and a client get one code each, and have had it. */
async function usedUp({ identifier, channel }: Person): Promise<void> {
  const { clock } = t;
  await t.stop();
  t = await open({ MAX_VERIFY_SENDS_PER_IP: '1', RATE_LIMIT_CODES_PER_IDENTIFIER: '1', EMAIL_DAILY_MAX: '50' }, clock);
  const again = await t.call('POST /api/verify/send', { identifier, channel });
  expect([again.status, again.body.error]).toEqual([429, 'rate_limited']);
}

interface Touch {
  readonly did: string;
  readonly passkey: Passkey;
  readonly label?: string;
  readonly more?: Record<string, unknown>;
}

/** Asks for a code with a touch of a passkey over the lines of a label. */
async function ask({ identifier, channel }: Person, { did, passkey, label = 'vault/keep/v1', more = {} }: Touch) {
  const touch = await signLines(t, passkey, [label, `${channel}:${identifier}`, did]);
  return t.call('POST /api/verify/send', { identifier, channel, ...touch, ...more });
}

/** A release that the holder has signed, six minutes ago. */
async function stale(passkey: Passkey, lines: readonly [string, string]) {
  const touch = await signLines(t, passkey, ['vault/release/v1', ...lines]);
  await t.clock.advance(6 * MINUTE_MS);
  return touch;
}

describe('S2: the holder of a claimed address', () => {
  test('gets three codes an hour by its passkey, which count for nobody else', async () => {
    const all = await people.held();
    const { owner, thief } = all;
    await people.challenge(all);
    await usedUp(owner);
    const by = { did: thief.did, passkey: owner.passkey };
    const sent = await ask(owner, by);
    expect([sent.status, sent.body.error]).toEqual([200, undefined]);
    const code = t.codeFor(owner.identifier);
    for (let n = 0; n < 2; n++) expect((await ask(owner, by)).status).toBe(200);
    const full = await ask(owner, by);
    expect([full.status, full.body.error]).toEqual([429, 'rate_limited']);
    expect(full.headers.get('ratelimit-policy')).toContain('"keep-sends-per-identifier";q=3;w=3600');
    const checked = await t.call('POST /api/verify/check', {
      ...{ identifier: owner.identifier, channel: 'email', code, challenge: sent.body.challenge },
    });
    expect(checked.body.verified).toBe(true);
    // Strangers have what they had: the limits of address and client count no send by a passkey.
    await t.clock.advance(HOUR_MS);
    expect((await ask(owner, by)).status).toBe(200);
    await t.call('POST /v1/console/limits/clear', { kind: 'sends-per-ip', key: '127.0.0.1' }, OPERATOR);
    expect((await t.call('POST /api/verify/send', { identifier: owner.identifier, channel: 'email' })).status).toBe(
      200,
    );
  });

  test('proves it with a key that its account has now, for this purpose, and while there is a claim', async () => {
    const all = await people.held();
    const { owner, thief } = all;
    const by = { did: thief.did, passkey: owner.passkey };
    expect((await ask(owner, by)).body.error).toBe('no_challenge');
    await people.challenge(all);
    const refused = async (touch: Partial<Touch>) => {
      const { status, body } = await ask(owner, { ...by, ...touch });
      return [status, body.error, body.reason];
    };
    expect(await refused({ passkey: thief.passkey })).toEqual([403, 'proof_invalid', 'signature']);
    expect(await refused({ label: 'vault/release/v1' })).toEqual([403, 'proof_invalid', 'challenge']);
    expect(await refused({ did: owner.did })).toEqual([403, 'proof_invalid', 'challenge']);
    // One touch is for one thing: neither lets the other be done, nor another address be let go.
    const { identifier, channel } = owner;
    const lines = [`${channel}:${identifier}`, thief.did] as const;
    const kept = await signLines(t, owner.passkey, ['vault/keep/v1', ...lines]);
    const elsewhere = await signLines(t, owner.passkey, ['vault/release/v1', 'email:other@example.com', thief.did]);
    for (const touch of [kept, elsewhere]) {
      const { status, body } = await t.call('POST /api/dids/release', { identifier, channel, ...touch });
      expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', 'challenge']);
    }
    const onApp = await signLines(t, owner.passkey, ['vault/release/v1', ...lines], 'https://app.example');
    const stranger = await t.call('POST /api/dids/release', { identifier, channel, ...onApp });
    expect([stranger.status, stranger.body.reason]).toEqual([403, 'origin']);
    const { body: late } = await t.call('POST /api/dids/release', {
      identifier,
      channel,
      ...(await stale(owner.passkey, lines)),
    });
    expect([late.error, late.reason]).toEqual(['proof_invalid', 'nonce']);
    expect((await refused({ more: { nonce: undefined } }))[0]).toBe(400);
    expect((await refused({ more: { purpose: 'recovery' } }))[0]).toBe(400);
    expect(await refused({})).toEqual([200, undefined, undefined]);
  });
});
