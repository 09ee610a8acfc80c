import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHolder, keyProof } from '../support/credentials.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// The attack: a person types the code that one page had sent into another, or a thief asks for it for something else.

/** Is a guardian, and has a room of its own for each client. */
const ROOM = {
  GUARDIAN_PRIVATE_KEY: '47'.repeat(32),
  ACCOUNT_FACTORY_2_ADDRESS: `0x${'f2'.repeat(20)}`,
  MAX_VERIFY_SENDS_PER_IP: '100',
};

const alice = { identifier: 'alice@example.com', channel: 'email' };
const PURPOSES = ['registration', 'recovery', 'credential'] as const;

let t: TestVault;
beforeEach(async () => {
  t = await startVault(ROOM);
});
afterEach(() => t.stop());

async function send(more: object = {}, ip = '203.0.113.7') {
  const { status, body } = await t.from(ip).call('POST /api/verify/send', { ...alice, ...more });
  expect(status).toBe(200);
  return { challenge: String(body.challenge), code: t.codeFor(alice.identifier) };
}

/** A check for a credential brings the proof of a key for its challenge, or for none. */
async function check(code: string, more: Readonly<Record<string, unknown>> = {}, ip = '203.0.113.7') {
  const { challenge = 'of-no-send' } = more;
  const isForCredential = more['purpose'] === 'credential';
  const holder = isForCredential ? { challenge, holder: await keyProof(t, await createHolder(), `${challenge}`) } : {};
  return (await t.from(ip).call('POST /api/verify/check', { ...alice, code, ...more, ...holder })).body;
}

const attestationFor = async (purpose: string | undefined) => {
  const { code, challenge } = await send({ purpose });
  return (await check(code, { challenge })).attestation;
};

const accounts = (attestation: unknown) => t.call('POST /api/recoveries/accounts', { attestation });

function register(attestation: unknown) {
  const credentialId = Buffer.from('alice'.padEnd(16, '.')).toString('base64url');
  return t.call('POST /api/dids', {
    ...alice,
    did: 'did:key:zalice',
    credentialId,
    txHash: `0x${'a1'.repeat(32)}`,
    attestation,
  });
}

describe('a code is for one thing', () => {
  test.each([undefined, 'registration'])('one for %p recovers nothing', async (purpose) => {
    const { status, body } = await accounts(await attestationFor(purpose));
    expect([status, body.error, body.hint]).toEqual([403, 'attestation_invalid', expect.stringContaining('recovery')]);
  });

  test('one for recovery reads the accounts of its address, and does so again', async () => {
    const attestation = await attestationFor('recovery');
    for (let i = 0; i < 2; i++) expect((await accounts(attestation)).body).toEqual({ accounts: [] });
  });

  test('one for recovery registers nothing', async () => {
    const { status, body } = await register(await attestationFor('recovery'));
    expect([status, body.error]).toEqual([403, 'attestation_invalid']);
    expect((await register(await attestationFor(undefined))).status).toBe(200);
  });

  test('checked for another purpose it is incorrect, and spends a guess', async () => {
    for (const asked of PURPOSES)
      for (const other of PURPOSES.filter((one) => one !== asked)) {
        await t.stop();
        t = await startVault(ROOM);
        const { code, challenge } = await send({ purpose: asked });
        const incorrect = { verified: false, message: 'Incorrect code' };
        const named = other === 'registration' ? {} : { purpose: other };
        const stranger = await check(code, other === 'credential' ? { ...named, challenge } : named);
        expect(stranger).toMatchObject(incorrect);
        expect(await check(code, { purpose: other, challenge })).toMatchObject({ ...incorrect, attempts_remaining: 3 });
        expect(await t.rows('SELECT attempts, consumed_at FROM codes')).toEqual([{ attempts: 2, consumed_at: null }]);
        expect(await t.rows('SELECT wrong_guesses FROM verifications')).toEqual([{ wrong_guesses: 2 }]);
        const right = asked === 'credential' ? { challenge } : {};
        expect(await check(code, { purpose: asked, ...right })).toMatchObject({ verified: true });
      }
  });

  test('a challenge knows what its code is for', async () => {
    for (const purpose of PURPOSES) {
      const { code, challenge } = await send({ purpose, bind: true });
      // But for a credential, which is asked for by its name alone.
      const verified = purpose !== 'credential';
      expect(await check(code, { challenge }, '203.0.113.8')).toMatchObject({ verified });
      if (!verified) expect(await check(code, { challenge, purpose }, '203.0.113.8')).toMatchObject({ verified: true });
    }
  });

  test('each purpose has a newest code of its own: a send for one replaces none of another', async () => {
    const codes = new Map<string, Awaited<ReturnType<typeof send>>>();
    for (const purpose of PURPOSES) codes.set(purpose, await send({ purpose }));
    for (const [purpose, { code, challenge }] of codes) {
      const own = purpose === 'credential' ? { challenge } : {};
      expect(await check(code, { purpose, ...own })).toMatchObject({ verified: true });
    }
  });

  test("another client's code is found by its purpose, too: the laptop asks, the phone types", async () => {
    const { code } = await send({ purpose: 'recovery' });
    await send({}, '203.0.113.9');
    expect(await check(code, { purpose: 'recovery' }, '203.0.113.8')).toMatchObject({ verified: true });
  });

  test('limits of sends and guesses count all purposes together', async () => {
    const sent: Awaited<ReturnType<typeof send>>[] = [];
    for (let i = 0; i < 5; i++) sent.push(await send({ purpose: PURPOSES[i % 3] }));
    const codes = sent.map(({ code }) => code);
    const wrong =
      ['000000', '000001', '000002', '000003', '000004', '000005'].find((one) => !codes.includes(one)) ?? '';
    const { status, body } = await t.call('POST /api/verify/send', { ...alice, purpose: 'credential' });
    expect([status, body.limit]).toEqual([429, 'sends-per-identifier']);
    for (let i = 0; i < 6; i++) await check(wrong, { purpose: PURPOSES[i % 3], challenge: sent[i % 3]?.challenge });
    expect(await t.rows('SELECT wrong_guesses FROM verifications')).toEqual([{ wrong_guesses: 6 }]);
  });

  test.each(['POST /api/verify/send', 'POST /api/verify/check'])('%s refuses another word', async (line) => {
    const error = 'Invalid purpose. Must be "registration", "recovery" or "credential"';
    for (const purpose of ['login', 'Recovery', 'recovery ', ['recovery'], { 0: 'recovery' }, true]) {
      const { status, body } = await t.call(line, { ...alice, code: '000000', purpose });
      expect([purpose, status, body.error]).toEqual([purpose, 400, error]);
    }
  });

  test('a repeated send is not of another purpose than the first', async () => {
    const key = { 'Idempotency-Key': 'one-send' };
    const first = await t.call('POST /api/verify/send', alice, key);
    expect(first.status).toBe(200);
    const { status, body } = await t.call('POST /api/verify/send', { ...alice, purpose: 'recovery' }, key);
    expect([status, body.error]).toEqual([422, 'idempotency_key_reused']);
    expect(await t.rows('SELECT purpose FROM codes')).toEqual([{ purpose: 'registration' }]);
  });

  test('no part of one attestation makes another: each opens what its signature is for', async () => {
    const [signUp, recovery] = [await attestationFor('registration'), await attestationFor('recovery')];
    for (const [other, open] of [
      [{ ...recovery, signature: signUp.signature }, accounts],
      [{ ...signUp, purpose: 'recovery' }, accounts],
      [{ ...signUp, signature: recovery.signature }, register],
      [{ ...recovery, purpose: 'registration' }, register],
    ] as const) {
      const { status, body } = await open(other);
      expect([status, body.error]).toEqual([403, 'attestation_invalid']);
    }
  });

  test('a challenge of one address opens none of another, of whatever purpose', async () => {
    const { challenge, code } = await send({ purpose: 'recovery' });
    const bob = { identifier: 'bob@example.com', channel: 'email', code, challenge };
    const { body } = await t.call('POST /api/verify/check', { ...bob, purpose: 'recovery' });
    expect(body.verified).toBe(false);
    expect((await t.call('POST /api/verify/check', bob)).body.verified).toBe(false);
    expect(await check(code, { challenge })).toMatchObject({ verified: true });
  });
});
