/** Operators and their tokens, and their changes of limits, lists and invites. */
export const OPERATOR_EVENTS = {
  'operator.secret_used': {
    channel: 'audit',
    description: 'the operator secret was used; at most once per network and hour',
    data: ['client'],
  },
  'operator.added': {
    channel: 'audit',
    description: 'an operator got a name and a token',
    data: ['name', 'role', 'expires_at'],
  },
  'operator.revoked': {
    channel: 'audit',
    description: "an operator's token was ended",
    data: ['name'],
  },
  'operator.all_revoked': {
    channel: 'audit',
    description: "all operators' tokens were ended: by the operator, or because a key of the vault was replaced",
    data: ['reason'],
  },
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
