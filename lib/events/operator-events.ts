/** What the operator did with limits, lists and invites. */
export const OPERATOR_EVENTS = {
  'limit.cleared': {
    channel: 'audit',
    description: 'the operator freed a limit',
    data: ['kind', 'key', 'cleared'],
  },
  'list.exported': {
    channel: 'audit',
    description: 'the operator exported a list to a file',
    data: ['list', 'format', 'filter'],
  },
  'invite.created': {
    channel: 'audit',
    description: 'the operator made an invite',
    data: ['uses', 'identifier', 'expires_at'],
  },
  'invite.revoked': {
    channel: 'audit',
    description: 'the operator revoked an invite',
    data: ['invite'],
  },
} as const;
