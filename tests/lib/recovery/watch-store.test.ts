import { describe, expect, test } from 'bun:test';
import { readConfig } from '../../../lib/config/config.ts';
import type { Statement } from '../../../lib/db/database.ts';
import { prepareDatabase } from '../../../lib/prepare-database.ts';
import {
  failAddress,
  keepAddress,
  missAddress,
  noteGuarded,
  recallAddresses,
  selectAddressesDue,
} from '../../../lib/recovery/address-store.ts';
import { insertForeign, recallRecoveries, recordSeen } from '../../../lib/recovery/change-store.ts';
import { NO_LABEL, selectNewest, toRecovery } from '../../../lib/recovery/store.ts';
import {
  beginFailure,
  guardiansIn,
  movePosition,
  positionIn,
  selectFailures,
  selectPositions,
} from '../../../lib/recovery/watch-store.ts';
import { fullIn, queueCall, selectGasRoom } from '../../../lib/relay/call-store.ts';
import { testClock } from '../../support/clock.ts';
import { engines } from '../../support/databases.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const CHAIN = 84532;
const KEY = { chainId: CHAIN, account: '0xa', commitment: '0xc', identifier: '' };

describe.each(engines())('on $name', ({ open }) => {
  async function prepared() {
    const [db, clock] = [await open(), testClock()];
    await prepareDatabase(db, clock, readConfig({ VAULT_SECRET, DID_REGISTRY_ADDRESS: 'none' }));
    const run = async (...statements: readonly Statement[]) => (await db.batch([...statements], 'write')).at(-1);
    return { now: clock.now(), run, close: () => db.close() };
  }

  test('a position never goes back, and a former guardian’s proposals are read on', async () => {
    const { run, close } = await prepared();
    const move = (guardian: string, block: number) =>
      run(...movePosition({ chainId: CHAIN, guardian }, 'proposals', { block, head: 9 }));
    await move('0x1', 7);
    await move('0x1', 5);
    await run(...movePosition({ chainId: CHAIN, guardian: '0x2' }, 'scan', { block: 3, head: 9 }));
    await run(...movePosition({ chainId: CHAIN, guardian: '0x2' }, 'scan', { block: 2, head: 9 }));
    const rows = (await run(selectPositions(CHAIN)))?.rows ?? [];
    expect(positionIn(rows, '0x2', 9)).toEqual({ proposals: 7, scanned: 3 });
    expect(positionIn(rows, '0x3', 9)).toEqual({ proposals: 7, scanned: -1 });
    expect(positionIn([], '0x3', 9)).toEqual({ proposals: -1, scanned: -1 });
    expect(guardiansIn(rows, '0x2')).toEqual(['0x2', '0x1']);
    // A node for another chain answered once: what is far beyond this one's head goes back, and nothing else.
    await move('0x1', 90_000);
    const far = (await run(selectPositions(CHAIN)))?.rows ?? [];
    expect(positionIn(far, '0x1', 89_000).proposals).toBe(90_000);
    expect(positionIn(far, '0x1', 5_000).proposals).toBe(3_000);
    await run(...movePosition({ chainId: CHAIN, guardian: '0x1' }, 'proposals', { block: 8, head: 5_000 }));
    const back = (await run(selectPositions(CHAIN)))?.rows ?? [];
    expect(positionIn(back, '0x1', 9).proposals).toBe(8);
    await close();
  });

  test('a look fails since its first failure, until it works', async () => {
    const { run, now, close } = await prepared();
    const failures = async () => Object.fromEntries(((await run(selectFailures(CHAIN)))?.rows ?? []).map(pair));
    const pair = (row: Readonly<Record<string, unknown>>) => [row['look'], Number(row['since']) - now];
    expect(await failures()).toEqual({});
    await run(beginFailure(CHAIN, 'scan', now), noteGuarded(KEY, now), failAddress(KEY, now + 1));
    await run(beginFailure(CHAIN, 'scan', now + 5), failAddress(KEY, now + 5));
    expect(await failures()).toEqual({ scan: 0, accounts: 1 });
    await run(
      ...movePosition({ chainId: CHAIN, guardian: '0x1' }, 'scan', { block: 1, head: 9 }),
      keepAddress(KEY, now),
    );
    expect(await failures()).toEqual({});
    await run(recallAddresses(CHAIN, '0xa', now), ...missAddress(KEY, now));
    expect((await run(selectAddressesDue(CHAIN, now + 86_400_000, 9)))?.rows).toMatchObject([{ misses: 1 }]);
    await close();
  });

  test('the gas of a day is full where a call that may be the costliest does not fit', async () => {
    const { run, now, close } = await prepared();
    const call = { kind: 'finish', role: 'guardian', chainId: CHAIN, target: '0xa', callData: '0x', tries: 0 } as const;
    const full = async (account: number, vault: number) =>
      fullIn((await run(selectGasRoom(call, { account, vault }, now)))?.rows[0]);
    expect(await full(1_250_000, 1_250_000)).toBeUndefined();
    expect(await full(1_249_999, 1_250_000)).toBe('account');
    expect(await full(1_250_000, 1_249_999)).toBe('vault');
    const budget = { account: 1_250_000, vault: 1_250_000 };
    // Neither recovery is there.
    expect((await run(queueCall({ ...call, budget }, { sql: 'id = 1', args: {} }, now)))?.rowsAffected).toBe(0);
    expect((await run(recallRecoveries(CHAIN, '0xa', true, now)))?.rowsAffected).toBe(0);
    await close();
  });

  test('of two looks at one recovery the first records what it saw, with one event', async () => {
    const { run, now, close } = await prepared();
    const key = { keyX: '0x1', keyY: '0x2', label: NO_LABEL, commitment: '0xc', identifier: null };
    await run(...insertForeign({ app: 'default', account: '0xa', ...key, readBlock: 5, chainId: CHAIN, now }, 7));
    const read = async () => toRecovery((await run(selectNewest(CHAIN, '0xa')))?.rows[0] ?? {});
    const recovery = await read();
    const seen = { ...recovery, contractId: 7, nextCheckAt: now + 1 };
    await run(...recordSeen(recovery, { ...seen, status: 'proposed', readBlock: 6 }, now));
    await run(...recordSeen(recovery, { ...seen, status: 'failed', failure: 'guardian', readBlock: 9 }, now));
    expect(await read()).toMatchObject({ status: 'proposed', failure: null, readBlock: 6, checks: 1 });
    const events = await run({ sql: `SELECT type FROM events WHERE type LIKE 'recovery.%' ORDER BY id`, args: {} });
    expect(events?.rows).toMatchObject([{ type: 'recovery.foreign' }, { type: 'recovery.proposed' }]);
    await close();
  });
});
