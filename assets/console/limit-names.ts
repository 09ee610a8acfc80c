/** A limit in words. */
export function limitWords(kind: string): string {
  return NAMES[kind] ?? kind;
}

/** The same, with the name that the documents and `vault limits` use. */
export function limitName(kind: string): string {
  return kind in NAMES ? `${limitWords(kind)} (${kind})` : kind;
}

const NAMES: Readonly<Record<string, string>> = {
  'sends-per-ip': 'Codes asked for by an IP address',
  'sends-per-identifier': 'Codes to an identifier',
  'pass-sends-per-ip': 'Codes by a pass, asked for by an IP address',
  'pass-sends-per-identifier': 'Codes by a pass, to an identifier',
  'keep-sends-per-identifier': 'Codes by a holder’s passkey, to an identifier',
  'sends-per-number': 'SMS to a number in an hour',
  'sends-per-number-day': 'SMS to a number in a day',
  'strangers-per-network': 'New identifiers of a network',
  'emails-per-day': 'Mails in a day',
  'emails-per-network': 'Mails of a network',
  'sms-per-day': 'SMS in a day',
  'sms-per-network': 'SMS of a network',
  'guesses-per-identifier': 'Wrong guesses in a row',
  'registrations-per-ip': 'Sessions of an IP address',
  'sessions-per-network': 'Sessions of a network',
  'relays-per-day': 'Relayed registrations in a day',
  'relays-per-network': 'Relayed registrations of a network',
  'recoveries-per-day': 'Recoveries in a day',
  'recoveries-per-network': 'Recoveries of a network',
  'sponsorships-per-day': 'Sponsored payments in a day',
  'sponsorships-per-network': 'Sponsored payments of a network',
  'sponsorships-per-account': 'Sponsored payments of an account',
  'sponsor-wei': 'Gwei of sponsored gas in a day',
  'sponsor-wei-per-network': 'Gwei of sponsored gas of a network',
  'sponsor-wei-per-account': 'Gwei of sponsored gas of an account',
  'joins-per-ip': 'Pairings of devices by an IP address',
  'joins-per-hour': 'Pairings of devices in an hour',
  'joins-per-network': 'Pairings of devices of a network',
  'credentials-per-identifier': 'Credentials of an address in a day',
  'test-messages': 'Test messages of the doctor in a day',
};
