/** A table without any row of a person, and a description of its contents. */
export interface OtherTable {
  readonly none: string;
}

/** These tables. */
export const OTHER_TABLES: Readonly<Record<string, OtherTable>> = {
  attestation_uses: {
    none: 'signatures of attestations and nonces of email tokens alone, until ten minutes after these end',
  },
  chain_blocks: { none: 'blocks of the chain' },
  chains: { none: 'which chains there are' },
  client_assertions: { none: 'which tokens clients have shown, by digests' },
  follower: { none: 'how far the chain is read' },
  invite_uses: { none: 'which invites were used, by digests that name nobody' },
  key_marks: { none: 'keys of the vault' },
  last_backup: { none: 'when and where the last backup was made' },
  leases: { none: 'jobs of the vault' },
  migrations: { none: 'versions of the schema' },
  minutes: { none: 'numbers for the charts of the console' },
  operators: { none: 'who may call the console: names that the vault’s operator chose' },
  recovery_cursors: { none: 'how far the chain is read' },
  signers: { none: 'accounts of the vault' },
  signing_keys: { none: 'keys of the vault' },
  streams: { none: 'tokens of the operator’s streams' },
  subject_salt: { none: 'the salt of the subjects for apps: nobody’s in particular' },
  tallies: { none: 'numbers of rows' },
  token_revocations: { none: 'tokens of the operator’s streams' },
  watch_failures: { none: 'since when the chain cannot be read' },
  webhook_cursor: { none: 'how far the events are copied' },
};
