/** What is counted for limits beside the rows themselves. */
export const LIMITS_TABLES: readonly string[] = [
  // Each row has a running total: a day's use is the difference between two rows.
  `CREATE TABLE budget_uses (
    kind TEXT NOT NULL,
    bucket TEXT NOT NULL,
    at INTEGER NOT NULL,
    used INTEGER NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (kind, bucket, at)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX budget_uses_by_time ON budget_uses (at)`,
  // A tree of counts: of single rows of `codes`, of 256 of them, and of 65,536.
  `CREATE TABLE sends_given_back (
    channel TEXT NOT NULL,
    level INTEGER NOT NULL,
    block INTEGER NOT NULL,
    sends INTEGER NOT NULL,
    PRIMARY KEY (channel, level, block)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE limit_notices (bucket TEXT PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE INDEX limit_notices_by_end ON limit_notices (until)`,
  // Use of a bucket before `at` no longer counts: the operator cleared it.
  `CREATE TABLE limit_clears (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID`,
];
