/** Events in the life of a registration. */
export const REGISTRATION_EVENTS = {
  'registration.submitted': {
    channel: 'credentials',
    description: 'a registration was recorded, or a re-org made it open again',
    data: ['identifier', 'channel', 'did', 'credential', 'tx_hash'],
  },
  'registration.confirmed': {
    channel: 'credentials',
    description: 'the chain has it',
    data: ['identifier', 'channel', 'did', 'credential', 'tx_hash'],
  },
  'registration.failed': {
    channel: 'credentials',
    description: 'it is given up; identifier, DID and credential are free again',
    data: ['identifier', 'channel', 'did', 'credential', 'tx_hash', 'reason'],
  },
  'registration.proven': {
    channel: 'credentials',
    description: "the controller's passkey signed for it",
    data: ['identifier', 'channel', 'did', 'credential', 'tx_hash'],
  },
  'registration.displaced': {
    channel: 'credentials',
    description: 'a later, proven registration of another DID took its address; it keeps DID and credential',
    data: ['identifier', 'channel', 'did', 'credential', 'tx_hash'],
  },
  'registration.challenged': {
    channel: 'credentials',
    description: 'another DID has proven an address whose holder has a passkey: it moves after a while',
    data: ['identifier', 'channel', 'did'],
  },
  'registration.challenge_ended': {
    channel: 'credentials',
    description:
      '`by`: the `holder` has renewed or `released` it, another DID `replaced` it, it `moved`, or it `failed`',
    data: ['identifier', 'channel', 'did', 'by'],
  },
  'registration.restored': {
    channel: 'credentials',
    description: 'the registration that took its address failed or was undone: it has the address again',
    data: ['identifier', 'channel', 'did', 'credential', 'tx_hash'],
  },
} as const;
