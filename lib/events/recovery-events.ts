/** The part of the catalogue about recoveries of accounts. */
export const RECOVERY_EVENTS = {
  'recovery.requested': {
    channel: 'credentials',
    description: 'who proved the committed address asked for a new key of an account; the guardian will propose it',
    data: ['account', 'identifier'],
  },
  'recovery.foreign': {
    channel: 'credentials',
    description: "another copy of the guardian's key proposed a recovery",
    data: ['account', 'id'],
  },
  'recovery.proposed': {
    channel: 'credentials',
    description: 'the chain shows the proposal; the key may be added from `ready_at` on',
    data: ['account', 'id', 'tx_hash', 'ready_at'],
  },
  'recovery.finished': {
    channel: 'credentials',
    description: "the new key is one of the account's",
    data: ['account', 'id', 'tx_hash', 'ready_at'],
  },
  'recovery.vetoed': {
    channel: 'credentials',
    description: 'an owner stopped it',
    data: ['account', 'id', 'tx_hash', 'ready_at'],
  },
  'recovery.cancelled': {
    channel: 'credentials',
    description: 'the guardian withdrew it, or its owner changed the guardian',
    data: ['account', 'id', 'tx_hash', 'ready_at'],
  },
  'recovery.lapsed': {
    channel: 'credentials',
    description: 'nobody finished it within 30 days',
    data: ['account', 'id', 'tx_hash', 'ready_at'],
  },
  'recovery.failed': {
    channel: 'credentials',
    description: 'it was never proposed, the account replaced its code, or the guardian gave up a call',
    data: ['account', 'id', 'tx_hash', 'ready_at', 'reason'],
  },
  'recovery.reopened': {
    channel: 'credentials',
    description: 'a re-org took its proposal back',
    data: ['account', 'id', 'tx_hash', 'ready_at'],
  },
  'recovery.stopped': {
    channel: 'audit',
    description: 'the operator had the recoveries of an account withdrawn',
    data: ['account'],
  },
} as const;
