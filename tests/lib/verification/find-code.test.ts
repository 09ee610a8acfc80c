import { expect, test } from 'bun:test';
import type { Purpose } from '../../../lib/base/purpose.ts';
import type { OwnedStore } from '../../../lib/db/store.ts';
import { createStrangersChecks, findCode, STRANGERS_VERDICT } from '../../../lib/verification/find-code.ts';
import { sentCodes } from '../../support/sent-codes.ts';

const [own, other] = ['198.51.100.1', '198.51.100.2'];
const codes = sentCodes();
const { config, identifier, clock, send } = codes;

/** The id and role of the code that a check is judged against, and how many statements it took to find it. */
async function find(ip: string, asked: { challenge?: string; purpose?: Purpose } = {}) {
  let reads = 0;
  const read: OwnedStore['read'] = (statement) => {
    reads++;
    return codes.db.read(statement);
  };
  const found = await findCode(
    { config, db: { ...codes.db, read }, strangers: createStrangersChecks() },
    { identifier, ip, ...asked },
    clock.now(),
  );
  return 'refused' in found ? { ...found, reads } : { code: found.code.id, role: found.role, reads };
}

test('§7 verify: a client with a live code of its own is judged by it, and nothing of others is read', async () => {
  await send('mine', own);
  await send('theirs', other);
  expect(await find(own)).toEqual({ code: 'mine', role: 'asker', reads: 1 });
  expect(await find(own, { challenge: 'theirs' })).toEqual({ code: 'theirs', role: 'holder', reads: 1 });
});

test('§7 verify: once its own code has ended a client is a stranger to the newest one', async () => {
  await send('mine', own, { lifetimeMs: 1 });
  await send('theirs', other);
  await send('newest', '198.51.100.3');
  await clock.advance(1);
  expect(await find(own)).toEqual({ code: 'newest', role: 'stranger', reads: 2 });
});

test('§7 verify: a stranger tries a code of its purpose before a newer one of another', async () => {
  await send('theirs', other);
  await send('recovery', other, { purpose: 'recovery' });
  expect(await find(own)).toEqual({ code: 'theirs', role: 'stranger', reads: 2 });
  expect(await find(own, { purpose: 'recovery' })).toEqual({ code: 'recovery', role: 'stranger', reads: 2 });
  expect(await find(own, { purpose: 'credential' })).toEqual({ code: 'recovery', role: 'stranger', reads: 2 });
});

test('§7 verify: the challenge of no code is refused by that alone, whether or not a code is live', async () => {
  expect(await find(own, { challenge: 'none' })).toEqual({ refused: STRANGERS_VERDICT, reads: 1 });
  await send('theirs', other);
  expect(await find(own, { challenge: 'none' })).toEqual({ refused: STRANGERS_VERDICT, reads: 1 });
});
