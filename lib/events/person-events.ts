/** The operator's actions on the stored data of a person; no event names anybody. */
export const PERSON_EVENTS = {
  'person.shown': {
    channel: 'audit',
    description: 'the operator looked at what is stored of a person',
    data: ['identifiers', 'dids'],
  },
  'person.exported': {
    channel: 'audit',
    description: 'the operator exported it',
    data: ['identifiers', 'dids'],
  },
  'person.erased': {
    channel: 'audit',
    description: 'the operator erased a person; `waiting` recoveries keep an address until they are over',
    data: ['identifiers', 'rows', 'waiting'],
  },
} as const;
