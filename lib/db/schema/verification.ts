/** Codes that are sent and checked, and identifiers that were proven by them. */
export const VERIFICATION_TABLES: readonly string[] = [
  // One row a send: the limits count it, and it holds the code's digest. Each purpose has a newest code of its own.
  `CREATE TABLE codes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    identifier TEXT NOT NULL,
    channel TEXT NOT NULL,
    purpose TEXT NOT NULL DEFAULT 'registration',
    ip TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    digest TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    delivery TEXT NOT NULL DEFAULT 'pending',
    consumed_at INTEGER,
    bound INTEGER NOT NULL DEFAULT 0,
    strangers INTEGER NOT NULL DEFAULT 0,
    pass TEXT,
    pass_guesses INTEGER NOT NULL DEFAULT 0,
    by_pass INTEGER
  ) STRICT`,
  `CREATE INDEX codes_by_identifier ON codes (identifier)`,
  `CREATE INDEX codes_by_ip ON codes (ip)`,
  `CREATE INDEX codes_by_time ON codes (sent_at)`,
  `CREATE INDEX codes_pending ON codes (expires_at) WHERE delivery = 'pending'`,
  `CREATE TABLE verifications (
    identifier TEXT PRIMARY KEY,
    verified_at INTEGER,
    wrong_guesses INTEGER NOT NULL DEFAULT 0,
    guessed_at INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX verifications_guessed ON verifications (wrong_guesses DESC, identifier) WHERE wrong_guesses > 0`,
  `CREATE INDEX verifications_by_guess ON verifications (guessed_at) WHERE wrong_guesses > 0`,
  `CREATE TABLE pass_grants (
    identifier TEXT NOT NULL,
    ip TEXT NOT NULL,
    code INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (identifier, ip)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX pass_grants_by_code ON pass_grants (code)`,
  `CREATE INDEX pass_grants_by_end ON pass_grants (until)`,
  `CREATE TABLE attestation_uses (
    signature TEXT PRIMARY KEY,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX attestation_uses_by_expiry ON attestation_uses (expires_at)`,
];
