import { afterAll, describe, expect, test } from 'bun:test';
import { type Hex, Secp256k1 } from 'ox';
import { addressSigner, passkeySigner } from '../../../scripts/dev-stack/account2.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import {
  errorName,
  eventsOf,
  fundedAccount2,
  own,
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
  propose,
  refusedProposal,
  veto,
  vetoRefusal,
} from '../../support/recoveries.ts';

const { rpc, stop } = await startChain();
afterAll(stop);

describe('a veto', () => {
  test('by any key that lives ends the recovery, carried by anyone, once', async () => {
    const account = await guarded(rpc);
    const exit = addressSigner(Secp256k1.randomPrivateKey(), 1);
    await run(rpc, account, [own(account, 'addKey', exit.x, exit.y, LABEL)]);
    for (const [signer, vetoes] of [
      [passkeySigner(account.passkey), 1],
      [exit, 2],
    ] as const) {
      const proposal = await propose(rpc, account);
      const signature = veto(account, proposal, signer);
      const { logs } = await send(rpc, 'bob', account, 'vetoRecovery', signature);
      expect(eventsOf(logs, account)[0]).toMatchObject({ name: 'RecoveryVetoed', id: proposal.id, vetoes });
      expect(await finishAt(rpc, account, proposal.readyAt)).toBe('NoRecovery');
      expect(await vetoRefusal(rpc, account, signature)).toBe('NoRecovery');
    }
  });

  test('also after the delay, while nobody has finished', async () => {
    const account = await guarded(rpc);
    const proposal = await propose(rpc, account);
    await setTime(rpc, proposal.readyAt + 29 * DAY);
    await send(rpc, 'bob', account, 'vetoRecovery', veto(account, proposal));
    expect(await finishAt(rpc, account, proposal.readyAt + 29 * DAY)).toBe('NoRecovery');
  });

  test('of another recovery, account, chain or key is refused, and one that has served', async () => {
    const account = await guarded(rpc);
    const first = await propose(rpc, account);
    const served = veto(account, first);
    await send(rpc, 'bob', account, 'vetoRecovery', served);
    // The same passkey and the same key proposed: only id and account tell the signatures apart.
    await runOwn(rpc, account, 'setGuardian', GUARDIAN, DELAY, COMMITMENT);
    const proposal = await propose(rpc, account, first.passkey);
    const twin = await guarded(rpc, await fundedAccount2(rpc, '0.7', account.passkey, 1n));
    const twins = await propose(rpc, twin, first.passkey);
    const removed = passkeySigner(createPasskey(), 1);
    await run(rpc, account, [own(account, 'addKey', removed.x, removed.y, LABEL)]);
    await run(rpc, account, [own(account, 'removeKey', 1, removed.x, removed.y)]);
    const otherId = await propose(rpc, await guarded(rpc));
    const others: Record<string, Hex.Hex> = {
      'one that has served': served,
      'another recovery': veto(account, { ...proposal, id: proposal.id + 1 }),
      'another key proposed': veto(account, { ...proposal, x: otherId.x, y: otherId.y }),
      'another account': veto(twin, { ...twins, id: proposal.id }),
      'another chain': veto(account, proposal, passkeySigner(account.passkey), 8453),
      'a key that was removed': veto(account, proposal, removed),
      'another index': veto(account, proposal, passkeySigner(account.passkey, 1)),
      'a stranger': veto(account, proposal, passkeySigner(createPasskey())),
      nothing: '0x',
    };
    for (const [name, signature] of Object.entries(others)) {
      expect({ name, refusal: await vetoRefusal(rpc, account, signature) }).toEqual({ name, refusal: 'InvalidVeto' });
    }
    expect(await vetoRefusal(rpc, account, veto(account, proposal))).toBeNull();
  });

  test('and a second bar the guardian for 30 days, and then the count begins again', async () => {
    const account = await guarded(rpc);
    await send(rpc, 'bob', account, 'vetoRecovery', veto(account, await propose(rpc, account)));
    expect(await guardianOf(rpc, account)).toMatchObject({ vetoes: 1, barredUntil: 0 });
    const { logs } = await send(rpc, 'bob', account, 'vetoRecovery', veto(account, await propose(rpc, account)));
    const until = (await timeOf(rpc)) + 30 * DAY;
    expect(eventsOf(logs, account)).toMatchObject([{ vetoes: 2 }, { name: 'GuardianBarred', until }]);
    expect(await guardianOf(rpc, account)).toMatchObject({ vetoes: 0, barredUntil: until });
    expect(await refusedProposal(rpc, account)).toBe('GuardianIsBarred');
    expect(await refusedProposal(rpc, account, { time: until - 1 })).toBe('GuardianIsBarred');
    expect(await refusedProposal(rpc, account, { time: until })).toBeNull();
    await setTime(rpc, until);
    await send(rpc, 'bob', account, 'vetoRecovery', veto(account, await propose(rpc, account)));
    expect(await guardianOf(rpc, account)).toMatchObject({ vetoes: 1 });
    expect(await refusedProposal(rpc, account)).toBeNull();
  });

  test('is forgotten when a recovery was finished or the guardian set', async () => {
    const account = await guarded(rpc);
    await send(rpc, 'bob', account, 'vetoRecovery', veto(account, await propose(rpc, account)));
    const { readyAt } = await propose(rpc, account);
    await setTime(rpc, readyAt);
    await send(rpc, 'bob', account, 'finishRecovery');
    expect(await guardianOf(rpc, account)).toMatchObject({ vetoes: 0 });
    await send(rpc, 'bob', account, 'vetoRecovery', veto(account, await propose(rpc, account)));
    await runOwn(rpc, account, 'setGuardian', GUARDIAN, DELAY, COMMITMENT);
    expect(await guardianOf(rpc, account)).toMatchObject({ vetoes: 0 });
  });

  test('by an operation of the owners counts, a withdrawal of the guardian does not', async () => {
    const account = await guarded(rpc);
    await propose(rpc, account);
    const withdrawn = await send(rpc, 'utility', account, 'cancelRecovery');
    expect(eventsOf(withdrawn.logs, account)).toMatchObject([{ name: 'RecoveryCancelled', id: 1 }]);
    expect(await guardianOf(rpc, account)).toMatchObject({ vetoes: 0 });
    await propose(rpc, account);
    expect(await refusedWith(rpc, 'alice', account, { name: 'cancelRecovery' })).toBe('AccountUnauthorized');
    expect(await runOwn(rpc, account, 'cancelRecovery')).toBeUndefined();
    expect(await guardianOf(rpc, account)).toMatchObject({ vetoes: 1 });
    expect(errorName(await runOwn(rpc, account, 'cancelRecovery'))).toBe('NoRecovery');
    expect(await refusedWith(rpc, 'utility', account, { name: 'cancelRecovery' })).toBe('NoRecovery');
  });
});
