import { afterEach, beforeEach, expect, test } from 'bun:test';
import { utf8 } from '../../../lib/base/bytes.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Config } from '../../../lib/config/config.ts';
import { STRANGERS_CHECKS_MAX } from '../../../lib/constants.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import { useForSend } from '../../../lib/limits/budgets.ts';
import { type CodeContext, judgeCode } from '../../../lib/verification/check-code.ts';
import { codeDigest } from '../../../lib/verification/code.ts';
import { createStrangersChecks, STRANGERS_VERDICT } from '../../../lib/verification/find-code.ts';
import { insertCodes, isToStranger, type NewCode } from '../../../lib/verification/send-store.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { SHARES } from '../../support/shares.ts';

const config = { ...SHARES, emailDailyMax: 100, maxVerifySendsPerIp: 9, maxVerifyAttempts: 5 } as Config;
const limits = { perIp: 9, perIdentifier: 9, perNumber: 5, perNumberFree: 5, perNumberDay: 10, perNumberDayFree: 10 };
const codePepper = utf8('pepper');
const identifier = parseIdentifier('email', 'alice@example.com');
const [own, other] = ['198.51.100.1', '198.51.100.2'];
const clock = testClock();
let database: TestDatabase;
let db: OwnedStore;

beforeEach(async () => {
  database = (await engines()[0]?.open()) as TestDatabase;
  db = createStore({ database, clock, metrics: createMetrics(), maxConnections: 10 });
  await db.ready();
});
afterEach(async () => {
  await db.idle();
  await database.close();
});

async function send(id: string, ip: string, code: string, isBound = false): Promise<void> {
  const now = clock.now();
  const digest = codeDigest(codePepper, identifier.key, id, code);
  const row: NewCode = {
    ...{ id, identifier: identifier.key, channel: 'email', purpose: 'registration', ip, now, expiresAt: now + 60_000 },
    ...{ digest, isBound, pass: null, givenPass: null, isByHolder: false },
  };
  const { room } = useForSend(config, { ...row, client: ip, isStranger: isToStranger(row) });
  await db.write(insertCodes([row], limits, room));
}

function check(ip: string, code: string, write: OwnedStore['write'] = db.write) {
  const ctx = {
    ...{ config, clock, keys: { codePepper }, db: { ...db, write }, metrics: createMetrics(), log: () => {} },
    ...{ sms: { kind: 'none' }, strangers: createStrangersChecks() },
  };
  return judgeCode(ctx as unknown as CodeContext, { identifier, code, ip, app: 'default' });
}

test('§7 verify: a stranger’s answer does not wait for the write where a code is live', async () => {
  await send('theirs', other, '123456');
  const written = Promise.withResolvers<never>();
  expect(await check(own, '654321', () => written.promise)).toEqual(STRANGERS_VERDICT);
  written.reject(new Error('away'));
});

test('§7 verify: strangers share few checks of a code, and its owner has the others', async () => {
  await send('theirs', other, '123456');
  for (let i = 1; i <= STRANGERS_CHECKS_MAX; i++) await check(`203.0.113.${i}`, '654321');
  await db.idle();
  expect(await check(own, '123456')).toEqual(STRANGERS_VERDICT);
  expect(await check(other, '123456')).toMatchObject({ verified: true });
});

test('a client’s newer code that only its challenge opens leaves the older one good', async () => {
  await send('mine', own, '123456');
  await send('bound', own, '222222', true);
  expect(await check(own, '123456')).toMatchObject({ verified: true });
});
