import type { Migration } from './schema-1.ts';

/** Migration 13: what is used of a day's budgets, with what the last day holds already. */
export const BUDGET_USES: Migration = {
  version: 13,
  name: 'budgets of a day, and what a network takes of them',
  statements: [
    // `used` at a time, and `total` of all times up to it: a day's use is the difference between two rows.
    `CREATE TABLE budget_uses (
      kind TEXT NOT NULL,
      bucket TEXT NOT NULL,
      at INTEGER NOT NULL,
      used INTEGER NOT NULL,
      total INTEGER NOT NULL,
      PRIMARY KEY (kind, bucket, at)
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX budget_uses_by_time ON budget_uses (at)`,
    ...['email', 'sms'].map(
      (channel) => `INSERT INTO budget_uses (kind, bucket, at, used, total)
        SELECT '${channel === 'sms' ? 'sms' : 'emails'}-per-day', '', sent_at, count(*),
          sum(count(*)) OVER (ORDER BY sent_at)
        FROM codes WHERE channel = '${channel}' GROUP BY sent_at`,
    ),
    `INSERT INTO budget_uses (kind, bucket, at, used, total)
      SELECT 'sponsorships-per-day', '', sponsored_at, count(*), sum(count(*)) OVER (ORDER BY sponsored_at)
      FROM sponsorships GROUP BY sponsored_at`,
  ],
};

/** Migration 17: relays count by the network of who asked, and those that cost nothing are not read. */
export const RELAY_SHARES: Migration = {
  version: 17,
  name: 'relays by network',
  statements: [
    `ALTER TABLE relays ADD COLUMN network TEXT NOT NULL DEFAULT ''`,
    `DROP INDEX relays_by_time`,
    `CREATE INDEX relays_counted ON relays (created_at) WHERE NOT (status = 'failed' AND nonce IS NULL)`,
    `CREATE INDEX relays_of_network ON relays (network, created_at) WHERE NOT (status = 'failed' AND nonce IS NULL)`,
  ],
};

/** Migration 21: the sends of the whole vault are counted by their own rows, which costs them less than a trigger. */
export const SENDS_COUNT_THEMSELVES: Migration = {
  version: 21,
  name: 'sends count themselves',
  statements: [
    `DROP TRIGGER codes_count_email`,
    `DROP TRIGGER codes_count_sms`,
    // The sends of the channel up to a row: a day's use is the difference between two rows.
    `ALTER TABLE codes ADD COLUMN emails_so_far INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE codes ADD COLUMN sms_so_far INTEGER NOT NULL DEFAULT 0`,
    `UPDATE codes SET emails_so_far = emails, sms_so_far = sms FROM
      (SELECT seq AS up_to, sum(channel = 'email') OVER sends AS emails, sum(channel = 'sms') OVER sends AS sms
        FROM codes WINDOW sends AS (ORDER BY seq)) WHERE up_to = seq`,
    `DELETE FROM budget_uses WHERE kind IN ('emails-per-day', 'sms-per-day')`,
  ],
};

/** Migration 18: a send is counted in the day's budget by a trigger, which costs it less than another statement. */
export const SENDS_ARE_COUNTED: Migration = {
  version: 18,
  name: 'sends are counted as they are written',
  statements: [
    ['emails-per-day', 'email'],
    ['sms-per-day', 'sms'],
  ].map(
    ([
      kind,
      channel,
    ]) => `CREATE TRIGGER codes_count_${channel} AFTER INSERT ON codes WHEN new.channel = '${channel}' BEGIN
      INSERT INTO budget_uses (kind, bucket, at, used, total)
      SELECT '${kind}', '',
        max(new.sent_at, coalesce((SELECT max(at) FROM budget_uses WHERE kind = '${kind}' AND bucket = ''), 0)), 1,
        1 + coalesce((SELECT total FROM budget_uses WHERE kind = '${kind}' AND bucket = ''
          ORDER BY at DESC LIMIT 1), 0)
      WHERE true
      ON CONFLICT (kind, bucket, at) DO UPDATE SET used = used + 1, total = total + 1; END`,
  ),
};

/** Migration 31: sends that reached nobody are counted apart, so that giving one back rewrites no later row. */
export const SENDS_GIVEN_BACK: Migration = {
  version: 31,
  name: 'sends given back are counted apart',
  statements: [
    // A tree of counts: of single rows of `codes`, of 256 of them, and of 65,536.
    `CREATE TABLE sends_given_back (
      channel TEXT NOT NULL,
      level INTEGER NOT NULL,
      block INTEGER NOT NULL,
      sends INTEGER NOT NULL,
      PRIMARY KEY (channel, level, block)
    ) STRICT, WITHOUT ROWID`,
  ],
};
