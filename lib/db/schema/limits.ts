/** Counts for limits that no other table's rows give. */
export const LIMITS_TABLES: readonly string[] = [
  // `used` in the ten minutes that end at `slot`: a day's use is their sum.
  `CREATE TABLE budget_uses (
    kind TEXT NOT NULL,
    bucket TEXT NOT NULL,
    slot INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (kind, bucket, slot)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX budget_uses_by_slot ON budget_uses (slot)`,
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
