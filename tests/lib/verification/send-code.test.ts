import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createWork } from '../../../lib/background.ts';
import { EMAIL_CODE_EXPIRY_SECONDS } from '../../../lib/constants.ts';
import { type Context, createContext } from '../../../lib/context.ts';
import type { Database } from '../../../lib/db/database.ts';
import type { Mailer } from '../../../lib/delivery/smtp.ts';
import { MAIL_SEND_TIMEOUT_MS } from '../../../lib/delivery/smtp.ts';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import { slotOf } from '../../../lib/limits/budget-store.ts';
import { checkCode } from '../../../lib/verification/check-code.ts';
import { sendCode } from '../../../lib/verification/send-code.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { failureOf } from '../../support/secrecy.ts';
import { tally } from '../../support/tally.ts';
import { idle } from '../../support/under-way.ts';
import { untilHolds } from '../../support/until.ts';
import { timedBy, VAULT_SECRET } from '../../support/vault.ts';

const vars = {
  VAULT_SECRET,
  EMAIL_PROVIDER: 'smtp',
  SMTP_URL: 'smtp://127.0.0.1',
  EMAIL_FROM: 'vault@example.net',
  MAX_VERIFY_SENDS_PER_IP: '3',
};
const lifeMs = EMAIL_CODE_EXPIRY_SECONDS * 1000;
const IP = '203.0.113.7';
const mailTo = (name: string) => parseIdentifier('email', `${name}@example.com`);
const mail = (name: string) =>
  ({ identifier: mailTo(name), purpose: 'registration', ip: IP, app: 'default', language: 'en' }) as const;

function tallyOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

for (const engine of engines()) {
  describe(`a sent code on ${engine.name}`, () => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await engine.open();
    });
    afterEach(() => database.close());

    const open = (send: Mailer['send'], clock = testClock()): Context =>
      createContext({ vars, database: timedBy(clock, database), clock, mail: { send } });

    test('that goes out after its answer says nothing of what became of it, and stays counted', async () => {
      const vault = open(() => Promise.reject(Object.assign(new Error('no connection'), { reachedNobody: true })));
      const answers = [];
      for (const isKnown of [true, false]) {
        const request = {
          ...mail(isKnown ? 'alice' : 'bob'),
          purpose: 'recovery',
          mayReach: async () => isKnown,
        } as const;
        const { challenge, ...answer } = await sendCode(vault, request);
        answers.push(answer);
      }
      expect(answers[0]).toEqual(answers[1]);
      await untilHolds(async () => {
        const rows = await vault.db.read({ sql: 'SELECT delivery FROM codes ORDER BY seq', args: {} });
        expect(rows.map(({ delivery }) => delivery)).toEqual(['refused', 'withheld']);
      });
    });

    test('that reached nobody is given back before its error is answered', async () => {
      const order: string[] = [];
      let isDown = false;
      const noted = async <T>(result: Promise<T>) => {
        const found = await result;
        if (isDown) order.push('given back');
        return found;
      };
      const vault = createContext({
        vars,
        database: {
          ...(database.protocol === undefined ? {} : { protocol: database.protocol }),
          execute: (statement) => noted(database.execute(statement)),
          batch: (statements, mode) => noted(database.batch(statements, mode)),
        },
        clock: testClock(),
        mail: {
          send() {
            isDown = true;
            return Promise.reject(Object.assign(new Error('no connection'), { reachedNobody: true }));
          },
        },
      });
      await sendCode(vault, mail('alice')).catch(() => order.push('answered'));
      expect(order).toEqual(['given back', 'answered']);
    });

    /** One round of background work of each vault at once, and the codes each has ever counted as lost. */
    const look = async (...vaults: readonly Context[]) => {
      await Promise.all(vaults.map((vault) => createWork(vault).run(vault.clock.now() + 1)));
      return vaults.flatMap(({ metrics }) => tally(metrics, 'vault_codes_lost_total')).toSorted();
    };
    const deliveries = async (vault: Context) => {
      const rows = await vault.db.read({ sql: 'SELECT delivery FROM codes ORDER BY seq', args: {} });
      return rows.map((row) => row['delivery']);
    };

    test('expires when the process died before its mail was accepted, and is counted as lost once by all vaults together', async () => {
      // This vault's time stands still from here: it is dead.
      const dead = open(() => new Promise(() => {}));
      sendCode(dead, mail('alice'));
      await idle();
      const clock = testClock();
      const vaults = [open(async () => {}, clock), open(async () => {}, clock)] as const;
      await clock.advance(lifeMs - 1);
      expect(await look(...vaults)).toEqual(['{} 0', '{} 0']);
      await clock.advance(1);
      expect(await look(...vaults)).toEqual(['{} 0', '{} 1']);
      expect(await look(...vaults)).toEqual(['{} 0', '{} 1']);
      expect(
        await checkCode(vaults[0], { identifier: mailTo('alice'), ip: IP, code: '000000', app: 'default' }),
      ).toEqual({
        verified: false,
        message: 'Code expired',
      });
    });

    describe('together with others of the same moment', () => {
      const limited = (more: Record<string, string> = {}) => {
        const batches: string[][] = [];
        const counted: Database = {
          ...(database.protocol === undefined ? {} : { protocol: database.protocol }),
          execute: (statement) => database.execute(statement),
          batch(statements, mode) {
            batches.push(statements.map(({ sql }) => sql));
            return database.batch(statements, mode);
          },
        };
        const mails: string[] = [];
        const send: Mailer['send'] = async ({ to }) => void mails.push(to);
        const vault = createContext({
          vars: { ...vars, ...more },
          database: counted,
          clock: testClock(),
          mail: { send },
        });
        return { vault, batches, mails };
      };
      const outcomesOf = async (vault: Context, sends: readonly (readonly [name: string, ip: string])[]) => {
        const one = ([name, ip]: readonly [string, string]) =>
          sendCode(vault, { ...mail(name), ip }).then(
            () => 'sent',
            (error) => error.code ?? error.message,
          );
        return Promise.all(sends.map(one));
      };
      const strangers = (count: number) =>
        Array.from({ length: count }, (_, n) => [`one${n}`, `198.51.${n >> 8}.${n & 255}`] as const);

      test('costs as many statements as one, and writes what each would', async () => {
        const { vault, batches, mails } = limited();
        await vault.db.ready();
        batches.length = 0;
        expect(await outcomesOf(vault, strangers(40))).toEqual(Array(40).fill('sent'));
        const inserts = batches.flat().filter((sql) => sql.startsWith('INSERT'));
        expect(inserts).toHaveLength(3);
        expect(mails.toSorted()).toEqual(
          strangers(40)
            .map(([name]) => `${name}@example.com`)
            .toSorted(),
        );
        const rows = await vault.db.read({
          sql: `SELECT identifier, ip, (SELECT used FROM budget_uses WHERE kind = 'emails-per-day') AS used
            FROM codes ORDER BY seq`,
          args: {},
        });
        expect(rows.map((row) => [row['identifier'], row['ip'], Number(row['used'])])).toEqual(
          strangers(40).map(([name, ip]) => [`email:${name}@example.com`, ip, 40]),
        );
        const events = await vault.db.read({ sql: `SELECT data FROM events WHERE type = 'code.sent'`, args: {} });
        expect(events.map(({ data }) => data)).toEqual(
          Array(40).fill(JSON.stringify({ channel: 'email', identifier: 'o***@example.com' })),
        );
      });

      test('a client and an address have no more than alone', async () => {
        const { vault, mails } = limited({ RATE_LIMIT_CODES_PER_IDENTIFIER: '2' });
        const ofClient = Array.from({ length: 6 }, (_, n) => [`mine${n}`, IP] as const);
        const ofAddress = Array.from({ length: 6 }, (_, n) => ['yours', `203.0.113.${100 + n}`] as const);
        const got = await outcomesOf(vault, [...ofClient, ...strangers(6), ...ofAddress]);
        const of = (from: number) => tallyOf(got.slice(from, from + 6));
        expect([of(0), of(6), of(12)]).toEqual([
          { sent: 3, rate_limited: 3 },
          { sent: 6 },
          { sent: 2, rate_limited: 4 },
        ]);
        expect(mails).toHaveLength(11);
      });

      test('the vault’s budget of a day goes to exactly as many as it has room for', async () => {
        // Below about 1,000 a day a client could take more than its network's share, which is counted one by one.
        const { vault, mails } = limited({ EMAIL_DAILY_MAX: '2000' });
        const slot = slotOf(vault.clock.now());
        const sql = `INSERT INTO budget_uses (kind, bucket, slot, used) VALUES ('emails-per-day', '', :slot, 1960)`;
        await vault.db.write({ sql, args: { slot } });
        const crowd = Array.from({ length: 4 }, () => ['crowd', '203.0.113.250'] as const);
        const got = await outcomesOf(vault, [...crowd, ...strangers(60)]);
        expect(tallyOf(got)).toEqual({ sent: 40, rate_limited: 24 });
        expect(mails).toHaveLength(40);
        expect(tallyOf(await outcomesOf(vault, [['late', '203.0.113.251']]))).toEqual({ rate_limited: 1 });
      });

      test('those of one network count one after the other', async () => {
        const { vault } = limited({ EMAIL_DAILY_MAX: '200' });
        const ofNetwork = Array.from({ length: 20 }, (_, n) => [`far${n}`, `2001:db8:1:${n}::/64`] as const);
        expect(tallyOf(await outcomesOf(vault, ofNetwork))).toEqual({ sent: 10, rate_limited: 10 });
      });
    });

    test('that died with its process stays spent', async () => {
      const dead = open(() => new Promise(() => {}));
      for (const name of ['alice', 'bob', 'carol']) sendCode(dead, mail(name));
      await idle();
      const { code } = await failureOf(
        sendCode(
          open(async () => {}),
          mail('dave'),
        ),
      );
      expect(code).toBe('rate_limited');
    });

    test('is not lost when its mail was accepted, refused, or given up in time', async () => {
      const clock = testClock();
      const vault = open(({ to }) => {
        if (to.startsWith('alice')) return Promise.resolve();
        if (to.startsWith('bob')) return Promise.reject(new Error('550 no such user'));
        return new Promise(() => {});
      }, clock);
      await sendCode(vault, mail('alice'));
      expect((await failureOf(sendCode(vault, mail('bob')))).code).toBe('email_send_failed');
      const silent = failureOf(sendCode(vault, mail('carol')));
      await clock.advance(MAIL_SEND_TIMEOUT_MS);
      expect((await silent).code).toBe('email_send_failed');
      await vault.db.idle();
      expect(await deliveries(vault)).toEqual(['accepted', 'refused', 'refused']);
      await clock.advance(lifeMs);
      expect(await look(vault)).toEqual(['{} 0']);
      expect(tally(vault.metrics, 'vault_codes_sent_total')).toEqual([
        '{channel="email",outcome="accepted"} 1',
        '{channel="sms",outcome="accepted"} 0',
        '{channel="email",outcome="refused"} 2',
        '{channel="sms",outcome="refused"} 0',
      ]);
    });

    test('is recorded as accepted together with others of the moment, each by its own row', async () => {
      const batches: number[] = [];
      const noting: Database = {
        execute: (statement) => database.execute(statement),
        batch(statements, mode) {
          batches.push(statements.filter(({ sql }) => sql.startsWith('UPDATE codes SET delivery')).length);
          return database.batch(statements, mode);
        },
      };
      const send = async ({ to }: { to: string }) => {
        if (to.startsWith('bob')) throw new Error('550 no such user');
      };
      const vault = createContext({ vars, database: noting, clock: testClock(), mail: { send } });
      const names = ['alice', 'bob', 'carol', 'dave'];
      await Promise.allSettled(names.map((name, n) => sendCode(vault, { ...mail(name), ip: `203.0.113.${n}` })));
      await vault.db.idle();
      expect(await deliveries(vault)).toEqual(['accepted', 'refused', 'accepted', 'accepted']);
      expect(batches.reduce((sum, count) => sum + count, 0)).toBe(2);
    });

    test('is recorded before the end of its request where requests are isolated', async () => {
      const env = { vars, database, clock: testClock(), mail: { send: async () => {} }, isolatesRequests: true };
      const vault = createContext(env);
      const found: unknown[] = [];
      for (const name of ['alice', 'bob']) {
        await vault.run((own) => sendCode(own, mail(name)));
        found.push((await database.execute({ sql: 'SELECT delivery FROM codes', args: {} })).rows.map(Object.values));
      }
      expect(found).toEqual([[['accepted']], [['accepted'], ['accepted']]]);
    });
  });
}
