import { afterAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { passkeySigner } from '../../../scripts/dev-stack/account2.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import {
  createdAccount2,
  errorName,
  eventsOf,
  keysOf,
  own,
  recoveryOf,
  refusedWith,
  run,
  runOwn,
  send,
  setTime,
  timeOf,
} from '../../support/account2.ts';
import {
  COMMITMENT,
  DAY,
  DELAY,
  finishAt,
  GUARDIAN,
  guarded,
  guardianOf,
  LABEL,
  proposalOf,
  propose,
  refusedProposal,
  veto,
  vetoRefusal,
} from '../../support/recoveries.ts';

const { rpc, stop } = await startChain();
afterAll(stop);

describe('a recovery', () => {
  test('makes the proposed key an owner after the delay, and not a second earlier', async () => {
    const account = await guarded(rpc);
    const { signer, readyAt, logs } = await propose(rpc, account);
    expect(eventsOf(logs, account)).toMatchObject([
      { name: 'RecoveryProposed', id: 1, guardian: GUARDIAN, x: signer.x, y: signer.y, readyAt },
    ]);
    expect(readyAt).toBe((await timeOf(rpc)) + DELAY);
    expect(await finishAt(rpc, account, readyAt - 1)).toBe('RecoveryNotReady');
    expect(await finishAt(rpc, account, readyAt)).toBeNull();
    await setTime(rpc, readyAt);
    const finished = await send(rpc, 'bob', account, 'finishRecovery');
    expect(eventsOf(finished.logs, account)).toMatchObject([
      { name: 'KeyAdded', x: signer.x, y: signer.y, index: 1, label: LABEL },
      { name: 'RecoveryFinished', id: 1, x: signer.x, y: signer.y },
    ]);
    expect((await recoveryOf(rpc, account)).id).toBe(0);
    const payee = Hex.random(20);
    await run(rpc, account, [{ target: payee, value: 7n }], { signer });
    expect(BigInt((await rpc('eth_getBalance', [payee, 'latest'])) as string)).toBe(7n);
    expect(await finishAt(rpc, account, readyAt + 1)).toBe('NoRecovery');
  });

  test('lapses 30 days after it was ready; the next proposal takes its place', async () => {
    const account = await guarded(rpc);
    const { readyAt } = await propose(rpc, account);
    expect(await finishAt(rpc, account, readyAt + 30 * DAY - 1)).toBeNull();
    expect(await finishAt(rpc, account, readyAt + 30 * DAY)).toBe('NoRecovery');
    expect(await refusedProposal(rpc, account, { time: readyAt + 30 * DAY - 1 })).toBe('RecoveryPending');
    await setTime(rpc, readyAt + 30 * DAY);
    expect(await vetoRefusal(rpc, account, veto(account, { id: 1, x: 0n, y: 0n }))).toBe('NoRecovery');
    const { id, logs } = await propose(rpc, account);
    expect(id).toBe(2);
    expect(eventsOf(logs, account)).toMatchObject([{ name: 'RecoveryProposed', id: 2 }]);
  });

  test('is proposed by the guardian alone, one at a time, under the owners’ commitment', async () => {
    const account = await guarded(rpc);
    for (const stranger of ['alice', 'registrar'] as const) {
      expect(await refusedProposal(rpc, account, { by: stranger })).toBe('NotGuardian');
    }
    expect(errorName(await runOwn(rpc, account, 'proposeRecovery', ...proposalOf(account.passkey)))).toBe(
      'NotGuardian',
    );
    expect(await refusedProposal(rpc, account, { commitment: Hex.random(32) })).toBe('CommitmentDiffers');
    await propose(rpc, account);
    expect(await refusedProposal(rpc, account)).toBe('RecoveryPending');
  });

  test('is of a point of P-256 that is no key yet', async () => {
    const account = await guarded(rpc);
    expect(await refusedProposal(rpc, account, { passkey: account.passkey })).toBe('KeyIsOwner');
    const { x, y } = passkeySigner(createPasskey());
    for (const key of [
      [x, y + 1n],
      [x, 0n],
      [0n, 0n],
      [BigInt(GUARDIAN), 0n],
      [2n ** 256n - 1n, y],
    ]) {
      const args = [...key, LABEL, COMMITMENT];
      expect(await refusedWith(rpc, 'utility', account, { name: 'proposeRecovery', args })).toBe('InvalidKey');
    }
  });

  test('of a key that owners added meanwhile ends, and adds no second copy', async () => {
    const account = await guarded(rpc);
    const { signer, readyAt } = await propose(rpc, account);
    await run(rpc, account, [own(account, 'addKey', signer.x, signer.y, LABEL)]);
    await setTime(rpc, readyAt);
    const { logs } = await send(rpc, 'bob', account, 'finishRecovery');
    expect(eventsOf(logs, account)).toMatchObject([{ name: 'RecoveryFinished', id: 1 }]);
    expect(await keysOf(rpc, account)).toHaveLength(2);
    expect((await recoveryOf(rpc, account)).id).toBe(0);
  });

  test('gives no more than 32 keys', async () => {
    const account = await guarded(rpc);
    const wallets = Array.from({ length: 23 }, (_, i) => own(account, 'addKey', 1_000n + BigInt(i), 0n, LABEL));
    for (const half of [wallets.slice(0, 12), wallets.slice(12)]) {
      for (const call of half) await run(rpc, account, [], call.data ? { callData: call.data } : {});
    }
    for (let keys = 24; keys < 32; keys++) {
      const { readyAt } = await propose(rpc, account);
      await setTime(rpc, readyAt);
      await send(rpc, 'bob', account, 'finishRecovery');
    }
    expect((await keysOf(rpc, account)).map(({ index }) => index)).toEqual(Array.from({ length: 32 }, (_, i) => i));
    const { readyAt } = await propose(rpc, account);
    expect(await finishAt(rpc, account, readyAt)).toBe('TooManyKeys');
  });
});

describe('a guardian', () => {
  test('is nobody until owners name one, and again when they say so', async () => {
    const account = await createdAccount2(rpc);
    expect(await refusedProposal(rpc, account)).toBe('NotGuardian');
    await runOwn(rpc, account, 'setGuardian', GUARDIAN, DELAY, COMMITMENT);
    expect(await guardianOf(rpc, account)).toEqual({
      guardian: GUARDIAN,
      delay: DELAY,
      commitment: COMMITMENT,
      vetoes: 0,
      barredUntil: 0,
    });
    await propose(rpc, account);
    const none = '0x0000000000000000000000000000000000000000';
    const { logs } = await run(rpc, account, [own(account, 'setGuardian', none, DELAY, COMMITMENT)]);
    expect(eventsOf(logs, account)).toMatchObject([
      { name: 'RecoveryCancelled', id: 1 },
      { name: 'GuardianSet', guardian: none, delay: 0, commitment: Hex.padLeft('0x', 32) },
    ]);
    expect(await guardianOf(rpc, account)).toMatchObject({
      guardian: none,
      delay: 0,
      commitment: Hex.padLeft('0x', 32),
    });
    expect(await refusedProposal(rpc, account)).toBe('NotGuardian');
  });

  test('waits 72 hours at least and 365 days at most, and is not the account', async () => {
    const account = await createdAccount2(rpc);
    const set = async (guardian: string, delay: number) =>
      errorName((await runOwn(rpc, account, 'setGuardian', guardian, delay, COMMITMENT)) ?? '0x');
    for (const delay of [0, DELAY - 1, 365 * DAY + 1, 2 ** 32 - 1])
      expect(await set(GUARDIAN, delay)).toBe('InvalidDelay');
    expect(await set(account.address, DELAY)).toBe('InvalidGuardian');
    for (const delay of [DELAY, 365 * DAY]) {
      expect(await runOwn(rpc, account, 'setGuardian', GUARDIAN, delay, COMMITMENT)).toBeUndefined();
    }
  });

  test('has none of the owners’ rights', async () => {
    const account = await guarded(rpc);
    const { x, y } = passkeySigner(account.passkey);
    const calls: [string, ...unknown[]][] = [
      ['executeBatch', [{ target: GUARDIAN, value: 1n, data: '0x' }]],
      ['addKey', BigInt(GUARDIAN), 0n, LABEL],
      ['removeKey', 0, x, y],
      ['nameKey', 0, LABEL],
      ['setGuardian', GUARDIAN, DELAY, COMMITMENT],
      ['upgradeToAndCall', GUARDIAN, '0x'],
    ];
    for (const [name, ...args] of calls) {
      expect({ name, refusal: await refusedWith(rpc, 'utility', account, { name, args }) }).toEqual({
        name,
        refusal: 'AccountUnauthorized',
      });
    }
  });
});
