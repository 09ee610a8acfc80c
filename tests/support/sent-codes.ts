import { afterEach, beforeEach } from 'bun:test';
import { createMetrics } from '../../lib/base/metrics.ts';
import type { Purpose } from '../../lib/base/purpose.ts';
import type { Config } from '../../lib/config/config.ts';
import { createStore, type OwnedStore } from '../../lib/db/store.ts';
import { parseIdentifier } from '../../lib/identity/identifier.ts';
import { useForSend } from '../../lib/limits/budgets.ts';
import { insertCodes, isToStranger, type NewCode } from '../../lib/verification/send-store.ts';
import { testClock } from './clock.ts';
import { engines, type TestDatabase } from './databases.ts';
import { SHARES } from './shares.ts';

const config = { ...SHARES, emailDailyMax: 100, maxVerifySendsPerIp: 9, maxVerifyAttempts: 5 } as Config;
const limits = { perIp: 9, perIdentifier: 9, perNumber: 5, perNumberFree: 5, perNumberDay: 10, perNumberDayFree: 10 };
const identifier = parseIdentifier('email', 'alice@example.com');

interface SentCode {
  readonly purpose?: Purpose;
  readonly lifetimeMs?: number;
  readonly digest?: string;
  readonly isBound?: boolean;
}

/** Codes that were sent to one address, in a database of each test's own. */
export function sentCodes() {
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
  return {
    config,
    identifier,
    clock,
    get db() {
      return db;
    },
    async send(id: string, ip: string, more: SentCode = {}): Promise<void> {
      const { purpose = 'registration', lifetimeMs = 60_000, digest = id, isBound = false } = more;
      const now = clock.now();
      const row: NewCode = {
        ...{ id, identifier: identifier.key, channel: 'email', purpose, ip, now, expiresAt: now + lifetimeMs },
        ...{ digest, isBound, pass: null, givenPass: null, isByHolder: false },
      };
      const { room } = useForSend(config, { ...row, client: ip, isStranger: isToStranger(row) });
      await db.write(insertCodes([row], limits, room));
    },
  };
}
