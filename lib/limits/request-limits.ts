import { MINUTE_MS } from '../base/clock.ts';

const MINUTE = MINUTE_MS / 1000;

/** So many clients of a /48 may read as much as one may, in a minute. */
const READERS_PER_NETWORK = 16;

/** The limits of requests, which each process counts in memory. */
export const REQUEST_LIMITS = {
  'writes-per-ip': {
    counts: 'requests for a session, a code or a DID',
    max: 'rateLimitWritesPerIp',
    windowSeconds: MINUTE,
    bucket: 'client',
    error: 'rate_limited',
  },
  'reads-per-ip': {
    counts: 'checks and look-ups',
    max: 'rateLimitReadsPerIp',
    windowSeconds: MINUTE,
    bucket: 'client',
    error: 'rate_limited',
  },
  'reads-per-network': {
    counts: 'checks and look-ups of a /48',
    max: { of: 'rateLimitReadsPerIp', times: READERS_PER_NETWORK },
    windowSeconds: MINUTE,
    bucket: 'network',
    error: 'rate_limited',
  },
  'proxy-per-ip': {
    counts: 'requests that cost an upstream call',
    max: 'rateLimitProxyPerIp',
    windowSeconds: MINUTE,
    bucket: 'client',
    error: 'rate_limited',
  },
  'requests-per-app': {
    counts: 'exchanges and reads of claims',
    max: 'rateLimitPerClient',
    windowSeconds: MINUTE,
    bucket: 'app',
    error: 'rate_limited',
  },
  'operator-failures-per-ip': {
    counts: 'wrong operator secrets',
    max: 10,
    windowSeconds: MINUTE,
    bucket: 'client',
    error: 'rate_limited',
  },
} as const;
