import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction } from 'ox';
import { account2Abi } from '../../contracts/abi.ts';
import { NONCE_LIFE_MS } from '../../lib/registration/touch.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { addressOf, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { whileTimePasses } from '../support/clock.ts';
import { startForwarder } from '../support/forwarder.ts';
import {
  attest,
  contactBody,
  createOwner,
  DELAY,
  nameGuardian,
  recoveryBody,
  startRecoveryChain,
  startRecoveryVault,
  vetoOf,
} from '../support/recovery.ts';
import { addKey, callAs, createSecond, removeKey } from '../support/second-account.ts';
import { type TestVault, VAULT_SECRET } from '../support/vault.ts';

const chain = await startRecoveryChain();
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await start();
});
afterEach(() => t.stop());

const start = (vars: Record<string, string | undefined> = {}) => startRecoveryVault(chain, vars);

/** Later, for the vault and for the chain. */
async function later(seconds: number): Promise<void> {
  await t.clock.advance(seconds * 1000);
  await chain.wait(seconds, 2);
  for (let i = 0; i < 4; i++) await t.work();
}

/** Later for the vault, on a chain that stands still. */
async function noBlock(seconds: number): Promise<void> {
  await t.clock.advance(seconds * 1000);
  await t.work();
}

let people = 0;
const somebody = () => createOwner(chain, t, `person${++people}@example.com`);
const statusOf = async (smartAccount: string) => (await t.call('GET /api/recoveries/status', { smartAccount })).body;
const ask = (body: object, by: Pick<TestVault, 'call'> = t, of = t) =>
  whileTimePasses(of.clock, by.call('POST /api/recoveries', { ...body }));
const veto = (smartAccount: string, signature: string, by = t) =>
  whileTimePasses(by.clock, by.call('POST /api/recoveries/vetoes', { smartAccount, signature }));
const operator = { Authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };

test('a recovery is proposed, waits, and is finished by the vault', async () => {
  const owner = await somebody();
  const passkey = createPasskey();
  expect(await statusOf(owner.account)).toMatchObject({ state: 'guarded', barredUntil: null, recovery: null });
  const { status, body } = await ask(recoveryBody(t, owner, passkey));
  expect([status, body]).toMatchObject([202, { ok: true, status: 'proposed', txHash: expect.any(String) }]);
  expect(Date.parse(body.readyAt) - t.clock.now()).toBeGreaterThan(DELAY * 1000 - 60_000);
  expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, finished: 0 });
  await later(DELAY / 2);
  expect(await chain.isKey(owner.account, passkey)).toBe(false);
  await later(DELAY / 2 + 60);
  await later(60);
  expect(await chain.isKey(owner.account, passkey)).toBe(true);
  expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'finished', final: true });
  expect(await chain.events(owner.account)).toEqual({ proposed: 1, finished: 1, vetoed: 0, cancelled: 0 });
  expect(await t.rows('SELECT type FROM events WHERE type GLOB :type ORDER BY id', { type: 'recovery.*' })).toEqual([
    { type: 'recovery.requested' },
    { type: 'recovery.proposed' },
    { type: 'recovery.finished' },
  ]);
});

test('a recovery whose finish a re-org takes back is finished again', async () => {
  await t.stop();
  t = await start({ FINALITY_BLOCKS: '6' });
  const owner = await somebody();
  const passkey = createPasskey();
  await ask(recoveryBody(t, owner, passkey));
  await later(DELAY / 2);
  await later(DELAY / 2 + 60);
  await noBlock(20);
  expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'finished', final: false });
  await chain.reorg(1);
  expect(await chain.isKey(owner.account, passkey)).toBe(false);
  for (let i = 0; i < 5; i++) await later(60);
  expect(await chain.isKey(owner.account, passkey)).toBe(true);
  expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'finished', final: true });
});

test('a recovery is vetoed by a signature that the vault carries and pays for', async () => {
  const owner = await somebody();
  const passkey = createPasskey();
  await ask(recoveryBody(t, owner, passkey));
  const signature = vetoOf(owner, passkey, 1);
  const first = await veto(owner.account, signature);
  expect([first.status, first.body]).toMatchObject([202, { ok: true, status: 'vetoed', txHash: expect.any(String) }]);
  await later(60);
  expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'vetoed', final: true });
  await later(DELAY + 60);
  expect(await chain.isKey(owner.account, passkey)).toBe(false);
  // Who did not hear the answer asks again; nothing else is pending.
  expect((await veto(owner.account, signature)).body).toEqual(first.body);
  const other = vetoOf(owner, createPasskey(), 2);
  expect((await veto(owner.account, other)).body.error).toBe('not_found');
  expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, vetoed: 1, finished: 0 });
});

test('a veto is carried while a node shows a nonce of the guardian that blocks do not show', async () => {
  const node = startForwarder(String(chain.vars['RPC_URL']));
  const own = await start({ RPC_URL: node.url, REGISTRAR_PRIVATE_KEY: undefined });
  const owner = await createOwner(chain, own, 'jump@example.com');
  const passkey = createPasskey();
  await ask(recoveryBody(own, owner, passkey), own, own);
  node.trouble = async (forward, _, body) => {
    const calls = [JSON.parse(body)].flat() as { id: number; method: string; params: readonly unknown[] }[];
    const isJump = (id: number) =>
      calls.some(
        (call) => call.id === id && /Count$/.test(call.method) && /^(latest|pending)$/.test(`${call.params[1]}`),
      );
    const answer = await (await forward()).json();
    const changed = (one: { id: number; result: string }) =>
      isJump(one.id) ? { ...one, result: `0x${(Number(one.result) + 500).toString(16)}` } : one;
    return Response.json(Array.isArray(answer) ? answer.map(changed) : changed(answer));
  };
  await own.clock.advance(60_000);
  await own.work();
  const { status, body } = await veto(owner.account, vetoOf(owner, passkey, 1), own);
  expect([status, body.error, body.status]).toEqual([202, undefined, 'vetoed']);
  expect(own.entries.filter(({ trouble }) => trouble === 'nonce_jump')).not.toEqual([]);
  await own.stop();
  await node.stop();
});

test('two vetoes bar the guardian: recoveries 409 recovery_barred, with the time that is left', async () => {
  const owner = await somebody();
  for (const id of [1, 2]) {
    const passkey = createPasskey();
    await ask(recoveryBody(t, owner, passkey));
    const signature = vetoOf(owner, passkey, id);
    await veto(owner.account, signature);
    await later(60);
  }
  const { status, body } = await ask(recoveryBody(t, owner, createPasskey()));
  expect([status, body.error]).toEqual([409, 'recovery_barred']);
  expect(body.retry_after).toBeGreaterThan(29 * 86_400);
  expect((await statusOf(owner.account)).barredUntil).toEqual(expect.any(String));
  expect(await chain.events(owner.account)).toMatchObject({ proposed: 2, vetoed: 2 });
});

describe('what an account has not named', () => {
  test('recoveries 403 recovery_refused: one answer, whatever the account has not named', async () => {
    const owner = await somebody();
    const passkey = createPasskey();
    const unguarded = { ...owner, account: await createSecond(chain.rpc, chain.contracts, passkey.key) };
    const foreign = { ...owner, account: await createSecond(chain.rpc, chain.contracts, createPasskey().key) };
    const set = AbiFunction.fromAbi(account2Abi, 'setGuardian');
    const call = AbiFunction.encodeData(set, [`0x${'11'.repeat(20)}`, DELAY, `0x${'22'.repeat(32)}`]);
    await callAs(chain.rpc, foreign.account, foreign.account, call);
    const cases = [
      // Somebody else's account, with an address of one's own.
      { account: owner.account, email: 'mallory@example.com' },
      unguarded,
      foreign,
      // No account at all, and a contract of another kind.
      { ...owner, account: `0x${'ab'.repeat(20)}` as const },
      { ...owner, account: chain.contracts.accountFactory2 },
    ];
    const answers = await Promise.all(cases.map((one) => ask(recoveryBody(t, one, passkey))));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect([answers[0]?.status, answers[0]?.body.error]).toEqual([403, 'recovery_refused']);
  });

  test('an account whose owners replaced its code is not called, whatever it says', async () => {
    const owner = await somebody();
    const slot = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
    const other = `0x${chain.contracts.accountHelper.slice(2).toLowerCase().padStart(64, '0')}`;
    await chain.rpc('anvil_setStorageAt', [owner.account, slot, other]);
    expect((await ask(recoveryBody(t, owner, createPasskey()))).body.error).toBe('recovery_refused');
    expect((await veto(owner.account, `0x${'00'.repeat(99)}`)).body.error).toBe('not_found');
  });

  test('after another commitment the address before recovers nothing', async () => {
    const owner = await somebody();
    await nameGuardian(chain, t, { ...owner, email: 'new@example.com' });
    expect((await ask(recoveryBody(t, owner, createPasskey()))).body.error).toBe('recovery_refused');
    const { status } = await ask(recoveryBody(t, { ...owner, email: 'new@example.com' }, createPasskey()));
    expect(status).toBe(202);
  });
});

describe('the request', () => {
  test('recoveries 403 attestation_used: an attestation starts one recovery, and does nothing after it (V6)', async () => {
    const owner = await somebody();
    const attestation = attest(t, owner.email);
    expect((await ask(recoveryBody(t, owner, createPasskey(), { attestation }))).status).toBe(202);
    const again = await ask(recoveryBody(t, owner, createPasskey(), { attestation }));
    expect([again.status, again.body.error]).toEqual([403, 'attestation_used']);
    const stop = { attestation, smartAccount: owner.account };
    const contact = await contactBody(t, owner.account, owner.passkey, owner.email, { attestation });
    for (const [path, body] of [
      ['cancellations', stop],
      ['contacts', contact],
    ] as const) {
      const { status, body: said } = await t.call(`POST /api/recoveries/${path}`, body);
      expect([path, status, said.error]).toEqual([path, 403, 'attestation_used']);
    }
    expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, cancelled: 0 });
  });

  test('recoveries: the same key again joins the one that is open, whatever its proof', async () => {
    const owner = await somebody();
    const passkey = createPasskey();
    const first = await ask(recoveryBody(t, owner, passkey));
    const second = await ask({ ...recoveryBody(t, owner, passkey), proofExpiresAt: 1 });
    expect([second.status, second.body]).toEqual([202, first.body]);
    expect(await chain.events(owner.account)).toMatchObject({ proposed: 1 });
  });

  test('recoveries: another key of the same address replaces the first, which is withdrawn', async () => {
    const owner = await somebody();
    const [lost, kept] = [createPasskey(), createPasskey()];
    await ask(recoveryBody(t, owner, lost));
    // It waits for the first to be withdrawn.
    expect((await ask(recoveryBody(t, owner, kept))).status).toBe(202);
    expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'proposed', id: 2 });
    expect(await chain.events(owner.account)).toEqual({ proposed: 2, cancelled: 1, vetoed: 0, finished: 0 });
    await later(DELAY + 60);
    await later(60);
    expect([await chain.isKey(owner.account, lost), await chain.isKey(owner.account, kept)]).toEqual([false, true]);
  });

  test('V5: a thief of the mailbox and the owner replace each other, and no key is added before a whole delay', async () => {
    const owner = await somebody();
    const [thiefs, own] = [createPasskey(), createPasskey()];
    for (const [passkey, id] of [
      [thiefs, 1],
      [own, 2],
      [thiefs, 3],
      [own, 4],
    ] as const) {
      expect((await ask(recoveryBody(t, owner, passkey))).status).toBe(202);
      expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'proposed', id });
      await later(DELAY - 3_600);
    }
    expect([await chain.isKey(owner.account, thiefs), await chain.isKey(owner.account, own)]).toEqual([false, false]);
    await later(3_600 + 60);
    await later(60);
    expect([await chain.isKey(owner.account, thiefs), await chain.isKey(owner.account, own)]).toEqual([false, true]);
  });

  test('recoveries: the same key may be asked for again while it is being withdrawn', async () => {
    const owner = await somebody();
    const passkey = createPasskey();
    await ask(recoveryBody(t, owner, passkey));
    const withdrawn = { attestation: attest(t, owner.email), smartAccount: owner.account };
    expect((await t.call('POST /api/recoveries/cancellations', withdrawn)).status).toBe(202);
    expect((await ask(recoveryBody(t, owner, passkey))).status).toBe(202);
    expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'proposed', id: 2 });
    expect(await chain.events(owner.account)).toEqual({ proposed: 2, cancelled: 1, vetoed: 0, finished: 0 });
  });

  test('recoveries 403 proof_invalid: another key, account, address, time or ceremony', async () => {
    const owner = await somebody();
    const passkey = createPasskey();
    const good = recoveryBody(t, owner, passkey);
    const seconds = good.proofExpiresAt;
    const reasonOf = async (change: object) => {
      const { status, body } = await ask({ ...good, ...change });
      return status === 403 && body.error === 'proof_invalid' ? body.reason : `${status} ${body.error}`;
    };
    expect(await reasonOf({ pubKeyX: good.pubKeyY })).toBe('challenge');
    expect(await reasonOf({ credentialId: 'A'.repeat(22) })).toBe('challenge');
    expect(await reasonOf({ proofExpiresAt: seconds + 1 })).toBe('challenge');
    expect(await reasonOf({ proofExpiresAt: undefined })).toBe('version');
    expect(await reasonOf({ proofExpiresAt: seconds - 3_600 })).toBe('expired');
    expect(await reasonOf({ attestation: attest(t, owner.email) })).toBe('challenge');
    const forged = recoveryBody(t, owner, { ...createPasskey(), key: passkey.key });
    expect(await reasonOf({ ...forged, attestation: forged.attestation })).toBe('signature');
    const unverified = recoveryBody(t, owner, passkey, { ceremony: { flags: 1 } });
    expect(await reasonOf(unverified)).toBe('user_verification');
    const elsewhere = recoveryBody(t, owner, passkey, { ceremony: { origin: 'https://evil.example' } });
    expect(await reasonOf(elsewhere)).toBe('origin');
    expect(await chain.events(owner.account)).toMatchObject({ proposed: 0 });
  });

  test('recoveries 403 proof_invalid: a key that is no point of the curve', async () => {
    const owner = await somebody();
    const { assert } = createPasskey();
    const key = { x: new Uint8Array(32).fill(1), y: new Uint8Array(32).fill(2) };
    expect((await ask(recoveryBody(t, owner, { assert, key }))).body).toMatchObject({ reason: 'signature' });
  });

  test('recoveries 403 recovery_channel_refused: a text message recovers nothing', async () => {
    const owner = await somebody();
    const attestation = attest(t, '+14155550100', 'sms');
    const body = { ...recoveryBody(t, owner, createPasskey()), attestation };
    for (const path of ['', '/commitments', '/accounts', '/cancellations'])
      expect((await t.call(`POST /api/recoveries${path}`, body)).body.error).toBe('recovery_channel_refused');
  });

  test('recoveries 403 attestation_invalid, attestation_expired', async () => {
    const owner = await somebody();
    const good = attest(t, owner.email);
    const body = recoveryBody(t, owner, createPasskey());
    for (const attestation of ['x', null, {}, { ...good, identifier: 'mallory@example.com' }])
      expect((await ask({ ...body, attestation })).body.error).toMatch(/attestation_invalid|Missing required/);
    await t.clock.advance(3_600_000);
    expect((await ask({ ...body, attestation: good })).body.error).toBe('attestation_expired');
  });

  test('recoveries 409 key_is_owner: a key that the account has', async () => {
    const owner = await somebody();
    expect((await ask(recoveryBody(t, owner, owner.passkey))).body.error).toBe('key_is_owner');
  });

  test('recoveries 503 guardian_unfunded: nothing is started without ether for it', async () => {
    const owner = await somebody();
    const balance = (await chain.rpc('eth_getBalance', [chain.guardian.address, 'latest'])) as string;
    await chain.rpc('anvil_setBalance', [chain.guardian.address, '0x1']);
    const { status, body } = await ask(recoveryBody(t, owner, createPasskey()));
    await chain.rpc('anvil_setBalance', [chain.guardian.address, balance]);
    expect([status, body.error]).toEqual([503, 'guardian_unfunded']);
    expect((await statusOf(owner.account)).recovery).toBe(null);
  });

  test('recoveries 503 recoveries_not_offered: every route, without a guardian’s key', async () => {
    const owner = await somebody();
    const without = await start({ GUARDIAN_PRIVATE_KEY: undefined });
    const body = { ...recoveryBody(t, owner, createPasskey()), signature: '0x00', nonce: 'none' };
    for (const path of ['', '/commitments', '/accounts', '/cancellations', '/vetoes', '/contacts']) {
      const answer = await without.call(`POST /api/recoveries${path}`, body);
      expect([answer.status, answer.body.error]).toEqual([503, 'recoveries_not_offered']);
    }
    const { status } = await without.call('GET /api/recoveries/status', { smartAccount: owner.account });
    expect([status, (await without.call('GET /api/contracts')).body.guardian]).toEqual([503, null]);
    expect((await t.call('GET /api/contracts')).body.guardian).toBe(chain.guardian.address);
    await without.stop();
  });
});

test('recoveries 429 recovery_limit_reached: the day, and the share of one network', async () => {
  const limited = await start({ RECOVERIES_DAILY_MAX: '4' });
  const owners = [await somebody(), await somebody(), await somebody(), await somebody(), await somebody()];
  const outcome = async (i: number, ip: string) => {
    const owner = owners[i];
    if (!owner) throw new Error('no owner');
    const { status, body } = await ask(recoveryBody(limited, owner, createPasskey()), limited.from(ip), limited);
    return status === 429 ? body.limit : status;
  };
  for (const i of [0, 1, 2]) expect(await outcome(i, '2001:db8:1::1')).toBe(202);
  expect(await outcome(3, '2001:db8:1:9::1')).toBe('recoveries-per-network');
  expect(await outcome(3, '198.51.100.7')).toBe(202);
  expect(await outcome(4, '203.0.113.9')).toBe('recoveries-per-day');
  // What was refused spent nothing: a day later the same person starts.
  await limited.clock.advance(87_000_000);
  expect(await outcome(4, '203.0.113.9')).toBe(202);
  await limited.stop();
});

describe('commitments and accounts', () => {
  test('recoveries/commitments: what the owner puts on-chain, the same each time, another for each account and address', async () => {
    const commit = async (email: string, smartAccount: string) => {
      const { body } = await t.call('POST /api/recoveries/commitments', {
        attestation: attest(t, email),
        smartAccount,
      });
      expect(body).toMatchObject({ guardian: chain.guardian.address.toLowerCase(), delaySecondsMin: DELAY });
      return body.commitment as string;
    };
    const [a, b] = [`0x${'Aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`];
    const made = [
      await commit('alice@example.com', a),
      await commit('bob@example.com', a),
      await commit('alice@example.com', b),
    ];
    expect(new Set(made).size).toBe(3);
    expect([await commit('Alice@Example.com', a.toLowerCase()), made[0]]).toEqual([
      made[0],
      expect.stringMatching(/^0x[0-9a-f]{64}$/),
    ]);
    // Another guardian's key cannot make it.
    const other = await start({ GUARDIAN_PRIVATE_KEY: `0x${'48'.repeat(32)}` });
    const answer = await other.call('POST /api/recoveries/commitments', {
      attestation: attest(t, 'alice@example.com'),
      smartAccount: a,
    });
    expect(answer.body.commitment).not.toBe(made[0]);
    await other.stop();
  });

  test('recoveries/accounts: the accounts that named the proven address, and no others', async () => {
    const owner = await somebody();
    const find = async (email: string) =>
      (await t.call('POST /api/recoveries/accounts', { attestation: attest(t, email) })).body.accounts;
    expect(await find(owner.email)).toEqual([owner.account.toLowerCase()]);
    expect(await find('mallory@example.com')).toEqual([]);
    // A commitment that no account has leads nowhere.
    await t.call('POST /api/recoveries/commitments', {
      attestation: attest(t, 'mallory@example.com'),
      smartAccount: owner.account,
    });
    expect(await find('mallory@example.com')).toEqual([]);
    await nameGuardian(chain, t, { ...owner, email: 'moved@example.com' });
    expect([await find(owner.email), await find('moved@example.com')]).toEqual([[], [owner.account.toLowerCase()]]);
  });
});

test('recoveries/status: what the chain shows, without any address', async () => {
  const owner = await somebody();
  const label = `0x${Buffer.from('My phone').toString('hex').padEnd(64, '0')}`;
  const passkey = createPasskey();
  await ask(recoveryBody(t, owner, passkey, { label }));
  const { text, body } = await t.call('GET /api/recoveries/status', { smartAccount: owner.account });
  expect(body).toMatchObject({
    smartAccount: owner.account.toLowerCase(),
    state: 'guarded',
    recovery: {
      id: 1,
      status: 'proposed',
      pubKeyX: `0x${Buffer.from(passkey.key.x).toString('hex')}`,
      label,
      reason: null,
    },
  });
  expect(text).not.toContain('example.com');
  expect((await t.call('GET /api/recoveries/status', { smartAccount: 'x' })).status).toBe(400);
  expect(body.recovery.readyAt).toBe(body.recovery.readyAt && new Date(body.recovery.readyAt).toISOString());
});

describe('vetoes', () => {
  test('recoveries/vetoes 403 veto_invalid: no key, a removed key, another recovery, padding; the vault pays for none (V3)', async () => {
    const owner = await somebody();
    const [passkey, second] = [createPasskey(), createPasskey()];
    await addKey(chain.rpc, owner.account, second.key);
    await ask(recoveryBody(t, owner, passkey));
    const nonce = await chain.rpc('eth_getTransactionCount', [chain.guardian.address, 'latest']);
    const errorOf = async (signature: string) => (await veto(owner.account, signature)).body.error;
    expect(await errorOf(vetoOf({ ...owner, passkey: createPasskey() }, passkey, 1))).toBe('veto_invalid');
    expect(await errorOf(vetoOf(owner, passkey, 2))).toBe('veto_invalid');
    expect(await errorOf(vetoOf(owner, second, 1))).toBe('veto_invalid');
    expect(await errorOf('0x00')).toBe('veto_invalid');
    const good = vetoOf(owner, passkey, 1);
    for (const zeros of [1, 32, 1_000]) expect(await errorOf(`${good}${'00'.repeat(zeros)}`)).toBe('veto_invalid');
    const signed = vetoOf({ ...owner, passkey: second }, passkey, 1, 1);
    await removeKey(chain.rpc, owner.account, 1, second.key);
    expect(await errorOf(signed)).toBe('veto_invalid');
    expect(await chain.rpc('eth_getTransactionCount', [chain.guardian.address, 'latest'])).toBe(nonce);
    expect(
      (
        await t.call('POST /api/recoveries/vetoes', {
          smartAccount: owner.account,
          signature: `0x${'00'.repeat(2_000)}`,
        })
      ).status,
    ).toBe(400);
    expect(await errorOf(good)).toBeUndefined();
  });

  test('recoveries/vetoes: the registrar pays where the guardian cannot', async () => {
    const owner = await somebody();
    const passkey = createPasskey();
    await ask(recoveryBody(t, owner, passkey));
    const paying = await start({ REGISTRAR_PRIVATE_KEY: `0x${'49'.repeat(32)}` });
    await chain.rpc('anvil_setBalance', [addressOf(`0x${'49'.repeat(32)}`), '0xde0b6b3a7640000']);
    await chain.rpc('anvil_setBalance', [chain.guardian.address, '0x1']);
    const { body } = await veto(owner.account, vetoOf(owner, passkey, 1), paying);
    await chain.rpc('anvil_setBalance', [chain.guardian.address, '0xde0b6b3a7640000']);
    expect(body).toMatchObject({ status: 'vetoed' });
    await paying.stop();
  });
});

test('recoveries/cancellations: the owner of the address withdraws without a key', async () => {
  const owner = await somebody();
  await ask(recoveryBody(t, owner, createPasskey()));
  const stop = (email: string) =>
    t.call('POST /api/recoveries/cancellations', { attestation: attest(t, email), smartAccount: owner.account });
  expect((await stop('mallory@example.com')).body.error).toBe('recovery_refused');
  const attestation = attest(t, owner.email);
  const same = () => t.call('POST /api/recoveries/cancellations', { attestation, smartAccount: owner.account });
  expect((await same()).status).toBe(202);
  expect((await same()).body.error).toBe('attestation_used');
  // A thief who took it from that request starts nothing, either.
  const stolen = await ask(recoveryBody(t, owner, createPasskey(), { attestation }));
  expect(stolen.body.error).toBe('attestation_used');
  for (let i = 0; i < 3; i++) await later(20);
  expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'cancelled', final: true });
  expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, cancelled: 1, vetoed: 0 });
  const unspent = attest(t, owner.email);
  const late = { attestation: unspent, smartAccount: owner.account };
  expect((await t.call('POST /api/recoveries/cancellations', late)).body.error).toBe('not_found');
  // What had nothing to withdraw leaves it.
  expect((await ask(recoveryBody(t, owner, createPasskey(), { attestation: unspent }))).status).toBe(202);
});

test('recoveries/cancellations: one whose proposal waits for a block is withdrawn once that is mined', async () => {
  const owner = await somebody();
  await chain.rpc('evm_setAutomine', [false]);
  try {
    await ask(recoveryBody(t, owner, createPasskey()));
    const stop = { attestation: attest(t, owner.email), smartAccount: owner.account };
    expect((await t.call('POST /api/recoveries/cancellations', stop)).status).toBe(202);
    for (let i = 0; i < 3; i++) await noBlock(20);
    expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'submitted', final: false });
  } finally {
    await chain.rpc('evm_setAutomine', [true]);
  }
  for (let i = 0; i < 3; i++) await later(20);
  expect(await chain.events(owner.account)).toMatchObject({ proposed: 1, cancelled: 1 });
  expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'cancelled', final: true });
});

test('recoveries/contacts: a second address, set and removed by a key of the account', async () => {
  const owner = await somebody();
  const set = (body: object) => t.call('POST /api/recoveries/contacts', { ...body });
  const good = await contactBody(t, owner.account, owner.passkey, 'friend@example.com');
  expect((await set(good)).body).toEqual({ ok: true, contact: 'f***@example.com' });
  expect((await set(good)).body.error).toBe('attestation_used');
  const { attestation } = good;
  const again = await contactBody(t, owner.account, owner.passkey, 'friend@example.com', { attestation });
  expect((await set(again)).body.error).toBe('attestation_used');
  expect((await set(await contactBody(t, owner.account, createPasskey(), 'evil@example.com'))).body).toMatchObject({
    error: 'proof_invalid',
    reason: 'account',
  });
  const swapped = {
    ...(await contactBody(t, owner.account, owner.passkey, 'x@example.com')),
    attestation: attest(t, 'y@example.com'),
  };
  expect((await set(swapped)).body).toMatchObject({ error: 'proof_invalid', reason: 'challenge' });
  const contactOf = async () =>
    (
      await t.rows('SELECT identifier FROM recovery_contacts WHERE account = :account', {
        account: owner.account.toLowerCase(),
      })
    )[0];
  expect(await contactOf()).toEqual({ identifier: 'email:friend@example.com' });
  const kept = await contactBody(t, owner.account, owner.passkey);
  const removal = await contactBody(t, owner.account, owner.passkey);
  expect((await set(removal)).body).toEqual({ ok: true, contact: null });
  expect(await contactOf()).toEqual({ identifier: '' });
  // Neither the touch that was used nor an older one, nor one that was kept, removes the next address.
  await set(await contactBody(t, owner.account, owner.passkey, 'next@example.com'));
  for (const old of [removal, kept]) expect((await set(old)).body).toMatchObject({ reason: 'used' });
  const late = await contactBody(t, owner.account, owner.passkey);
  await t.clock.advance(NONCE_LIFE_MS);
  expect((await set(late)).body).toMatchObject({ error: 'proof_invalid', reason: 'nonce' });
  expect(await contactOf()).toEqual({ identifier: 'email:next@example.com' });
});

test('recoveries/contacts: from BASE_URL’s pages alone, not from those of APP_ORIGINS', async () => {
  const own = await start({ APP_ORIGINS: 'https://app.example' });
  const owner = await somebody();
  const set = (body: object) => own.call('POST /api/recoveries/contacts', { ...body });
  await set(await contactBody(own, owner.account, owner.passkey, 'friend@example.com'));
  for (const origin of ['https://app.example', 'http://localhost:1']) {
    const { status, body } = await set(await contactBody(own, owner.account, owner.passkey, undefined, { origin }));
    expect([status, body.error, body.reason]).toEqual([403, 'proof_invalid', 'origin']);
  }
  const [row] = await own.rows('SELECT identifier FROM recovery_contacts');
  expect(row).toEqual({ identifier: 'email:friend@example.com' });
  await own.stop();
});

describe('the operator', () => {
  test('console/recoveries: newest first, of one account, open ones; addresses masked', async () => {
    const [first, second] = [await somebody(), await somebody()];
    for (const owner of [first, second]) await ask(recoveryBody(t, owner, createPasskey()));
    const list = async (query = {}) => (await t.call('GET /v1/console/recoveries', query, operator)).body.recoveries;
    expect((await list()).map((one: { account: string }) => one.account)).toEqual(
      [second, first].map(({ account }) => account.toLowerCase()),
    );
    expect(await list({ account: first.account, open: 'true' })).toMatchObject([
      { identifier: `p***@example.com`, status: 'proposed', foreign: false, stopped: false, number: 1 },
    ]);
    expect((await t.call('GET /v1/console/recoveries')).status).toBe(401);
  });

  test('console/recoveries/cancel: the guardian withdraws, and its owner hears of it', async () => {
    const owner = await somebody();
    await ask(recoveryBody(t, owner, createPasskey()));
    const cancel = () => t.call('POST /v1/console/recoveries/cancel', { account: owner.account }, operator);
    expect((await cancel()).body).toEqual({ ok: true });
    for (let i = 0; i < 3; i++) await later(20);
    expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'cancelled', final: true });
    expect((await cancel()).body.error).toBe('not_found');
    const notices = await t.rows(`SELECT kind, recipient FROM recovery_notices WHERE sent_at IS NOT NULL ORDER BY id`);
    expect(notices).toEqual([
      { kind: 'started', recipient: 'owner' },
      { kind: 'ended', recipient: 'owner' },
    ]);
  });
});

test('a proposal by another copy of the key is found, reported, and may be vetoed', async () => {
  const owner = await somebody();
  // The commitment is found on-chain ten minutes later, and the account is watched from then on.
  await later(700);
  const passkey = createPasskey();
  const [x, y] = [passkey.key.x, passkey.key.y].map((bytes) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
  const propose = AbiFunction.fromAbi(account2Abi, 'proposeRecovery');
  const [row] = await t.rows('SELECT commitment FROM recovery_addresses WHERE account = :account', {
    account: owner.account.toLowerCase(),
  });
  const data = AbiFunction.encodeData(propose, [
    x ?? 0n,
    y ?? 0n,
    `0x${'0'.repeat(64)}`,
    String(row?.['commitment']) as `0x${string}`,
  ]);
  await sendTransaction(chain.rpc, chain.guardian.privateKey, { to: owner.account, data });
  await later(61);
  await later(61);
  expect((await statusOf(owner.account)).recovery).toMatchObject({ status: 'proposed', id: 1 });
  const [listed] = (await t.call('GET /v1/console/recoveries', { account: owner.account }, operator)).body.recoveries;
  expect(listed).toMatchObject({ foreign: true, identifier: 'p***@example.com' });
  expect(t.entries.filter(({ event }) => event === 'guardian_key_used_elsewhere')).not.toEqual([]);
  expect(await t.rows(`SELECT kind FROM recovery_notices WHERE sent_at IS NOT NULL`)).toEqual([{ kind: 'started' }]);
  const { body } = await veto(owner.account, vetoOf(owner, passkey, 1));
  expect(body).toMatchObject({ status: 'vetoed' });
});
