import * as limit from '../constants.ts';
import * as parse from './parsers.ts';
import { derived, type Facts, plain } from './setting.ts';
import { isLoopbackOrigin, sharedNetworks } from './url-parsers.ts';

/** The largest number of a limit. */
const COUNT_MAX = 1_000_000_000;
/** A developer's own requests all come from one address. */
const WRITES_PER_IP_AT_HOME = 6_000;

/** A setting that is a whole number. */
export function count(meaning: string, fallback: number, min = 0, max = COUNT_MAX, facts?: Facts) {
  return plain(meaning, parse.integer(min, max), String(fallback), facts);
}

/** How much each client, identifier and day is allowed. */
export const LIMIT_SETTINGS = {
  MAX_REGISTRATIONS_PER_IP: count('registrations per IP', limit.MAX_REGISTRATIONS_PER_IP),
  REGISTRATIONS_PER_IP_WINDOW_SECONDS: count(
    'how long a session counts as a registration of its IP, in seconds; 0 is for good',
    limit.REGISTRATIONS_PER_IP_WINDOW_SECONDS,
  ),
  ADDRESS_MOVE_HOURS: count(
    'hours after which an address whose holder has a passkey goes to another DID that has proven it',
    limit.ADDRESS_MOVE_HOURS,
    0,
    720,
  ),
  MAX_VERIFY_ATTEMPTS: count('checks per code', limit.MAX_VERIFY_ATTEMPTS, 1),
  EMAIL_CODE_EXPIRY_SECONDS: count('lifetime of a mailed code in seconds', limit.EMAIL_CODE_EXPIRY_SECONDS, 1, 600),
  RATE_LIMIT_CODES_PER_IDENTIFIER: count('codes mailed to one address per hour', limit.RATE_LIMIT_CODES_PER_IDENTIFIER),
  RATE_LIMIT_CODES_PER_NUMBER: count(
    'SMS to one number per hour; twice as many per day; two fifths are kept for sends with a pass',
    limit.RATE_LIMIT_CODES_PER_NUMBER,
  ),
  MAX_VERIFY_SENDS_PER_IP: count('codes sent for one IP per day', limit.MAX_VERIFY_SENDS_PER_IP),
  ATTESTATION_TTL_SECONDS: count('lifetime of an attestation in seconds', limit.ATTESTATION_TTL_SECONDS, 1, 86_400),
  SESSION_TTL_SECONDS: count(
    'lifetime of a session without a DID, in seconds',
    limit.SESSION_TTL_SECONDS,
    1,
    31_536_000,
  ),
  EMAIL_DAILY_MAX: count('codes mailed by the whole service per day', limit.EMAIL_DAILY_MAX),
  SMS_DAILY_MAX: count('SMS of the whole service per day', limit.SMS_DAILY_MAX),
  RELAY_DAILY_MAX: count('DIDs registered for others per day', limit.RELAY_DAILY_MAX, 0, COUNT_MAX, {
    needs: 'REGISTRAR_PRIVATE_KEY',
  }),
  RECOVERIES_DAILY_MAX: count('recoveries of accounts started per day', limit.RECOVERIES_DAILY_MAX, 0, COUNT_MAX, {
    needs: 'GUARDIAN_PRIVATE_KEY',
  }),
  RELAY_MIN_BALANCE: plain('ether that registrar and guardian must hold each, to pay for calls', parse.ether, '0.002'),
  RELAY_MAX_FEE_GWEI: plain(
    'highest price that registrar and guardian pay per unit of gas; they wait while the chain asks more',
    parse.gwei,
    '10',
  ),
  SPONSOR_MAX_FEE: plain('most ether that one sponsored operation may cost its sponsor', parse.etherOfGas, '0.0005', {
    needs: 'BUNDLER_URL',
  }),
  SPONSOR_DAILY_WEI: plain('ether that sponsored operations may cost per day', parse.etherOfGas, '0.02', {
    needs: 'BUNDLER_URL',
  }),
  SPONSOR_DAILY_MAX: count('user operations sponsored per day', limit.SPONSOR_DAILY_MAX, 0, COUNT_MAX, {
    needs: 'BUNDLER_URL',
  }),
  RATE_LIMIT_PROXY_PER_IP: count(
    'requests of one IP per minute that cause an upstream call',
    limit.RATE_LIMIT_PROXY_PER_IP,
  ),
  RATE_LIMIT_WRITES_PER_IP: plain(
    'requests of one IP per minute to open a session, send a code or register a DID',
    parse.integer(0, COUNT_MAX),
    derived(
      `${limit.RATE_LIMIT_WRITES_PER_IP}, or ${WRITES_PER_IP_AT_HOME} while BASE_URL is loopback`,
      ({ BASE_URL }) =>
        String(isLoopbackOrigin(BASE_URL ?? '') ? WRITES_PER_IP_AT_HOME : limit.RATE_LIMIT_WRITES_PER_IP),
    ),
    { example: '60' },
  ),
  RATE_LIMIT_READS_PER_IP: count('checks and look-ups of one IP per minute', limit.RATE_LIMIT_READS_PER_IP),
  RATE_LIMIT_PER_CLIENT: count(
    'requests of an app per minute to exchange codes and to read claims, from all its servers and people',
    limit.RATE_LIMIT_PER_CLIENT,
    0,
    COUNT_MAX,
    { needs: 'CLIENTS' },
  ),
  NETWORK_SHARE_PERCENT: count(
    'how much of a limit of the whole service one network may take, in percent; 100 sets no limit per network',
    limit.NETWORK_SHARE_PERCENT,
    1,
    100,
  ),
  SHARED_NETWORKS: plain(
    'networks of many people, such as of a company, without a limit per network (CIDR, comma list), or none',
    sharedNetworks,
    'none',
    { example: '203.0.113.0/24,2001:db8::/32' },
  ),
};
