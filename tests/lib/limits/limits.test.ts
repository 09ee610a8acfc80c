import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { MINUTE_MS } from '../../../lib/base/clock.ts';
import { type LimitState, VaultError } from '../../../lib/base/error.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Config } from '../../../lib/config/config.ts';
import { createRequestLimit, ipLimitReached, REQUEST_LIMIT_CLIENTS_MAX } from '../../../lib/limits/limits.ts';
import { always } from '../../support/property.ts';
import { tally } from '../../support/tally.ts';

/** A limit and its clock; `ask` is the refusal's details, or undefined when the request may pass. */
function open(limit: number) {
  const time = { now: 1_000_000 };
  const clock = { now: () => time.now, monotonic: () => time.now, after: () => () => {} };
  const metrics = createMetrics();
  const spend = createRequestLimit(
    { config: { rateLimitReadsPerIp: limit } as Config, clock, metrics },
    'reads-per-ip',
  );
  const ask = (client = 'alice') => {
    try {
      spend(client);
      return undefined;
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      expect([error.code, error.message]).toEqual(['rate_limited', 'rate_limited']);
      expect(error.details.limit?.bucket).toBe(client);
      const { bucket: _, ...limit } = error.details.limit as LimitState;
      return limit;
    }
  };
  return { time, metrics, ask };
}

const refusal = (limit: number, retryAfterSeconds: number) => ({
  name: 'reads-per-ip',
  limit,
  windowSeconds: 60,
  retryAfterSeconds,
});

describe('the request limit', () => {
  test('holds over the rolling minute, at the exact edge', () => {
    const { time, ask } = open(2);
    expect(ask()).toBeUndefined();
    time.now += 10_000;
    expect([ask(), ask()]).toEqual([undefined, refusal(2, 50)]);
    time.now += 49_999;
    expect(ask()).toEqual(refusal(2, 1));
    time.now += 1;
    expect([ask(), ask()]).toEqual([undefined, refusal(2, 10)]);
  });

  test('remembers the newer requests of a client whose oldest is a minute old, before it has spent all', () => {
    const { time, ask } = open(3);
    expect(ask()).toBeUndefined();
    time.now += 59_000;
    expect(ask()).toBeUndefined();
    time.now += 2_000;
    expect([ask(), ask(), ask()]).toEqual([undefined, undefined, refusal(3, 58)]);
  });

  test("is each client's own, and a refused request spends nothing", () => {
    const { time, metrics, ask } = open(1);
    expect([ask('alice'), ask('bob')]).toEqual([undefined, undefined]);
    for (let i = 0; i < 59; i++) {
      time.now += 1_000;
      expect(ask('alice')).toEqual(refusal(1, 59 - i));
    }
    time.now += 1_000;
    expect(ask('alice')).toBeUndefined();
    expect(tally(metrics, 'vault_limits_reached_total')).toEqual(['{limit="reads-per-ip"} 59']);
  });

  test('of 0 refuses all, and names no time because none would help', () => {
    const { time, ask } = open(0);
    for (const wait of [0, MINUTE_MS, 1]) {
      time.now += wait;
      expect(ask()).toEqual({ name: 'reads-per-ip', limit: 0, windowSeconds: 60 });
    }
  });

  test('agrees with a plain list of times, and tells a wait after which the client is let in, in whole seconds', () => {
    const wait = fc.oneof(fc.constantFrom(0, 1, 999, 1_000, 59_999, 60_000, 60_001), fc.nat(30_000), fc.nat(70_000));
    const steps = fc.array(fc.tuple(wait, fc.constantFrom('alice', 'bob')), { maxLength: 60 });
    always(fc.tuple(fc.integer({ min: 1, max: 5 }), steps), ([limit, asked]) => {
      const { time, ask } = open(limit);
      const spent = new Map<string, number[]>();
      for (const [ms, client] of asked) {
        time.now += ms;
        const live = (spent.get(client) ?? []).filter((at) => time.now < at + MINUTE_MS);
        const refused = ask(client);
        if (live.length < limit) {
          expect(refused).toBeUndefined();
          spent.set(client, [...live, time.now]);
        } else {
          const untilFree = (live.at(-limit) ?? 0) + MINUTE_MS - time.now;
          expect(refused?.retryAfterSeconds).toBe(Math.ceil(untilFree / 1000));
        }
      }
    });
  });

  test('remembers so many clients, and forgets the longest silent first', () => {
    const { ask } = open(1);
    const others = (count: number) => {
      for (let i = 0; i < count; i++) expect(ask(`client ${i}`)).toBeUndefined();
    };
    ask('early');
    ask('late');
    expect(ask('early')).toEqual(refusal(1, 60));
    others(REQUEST_LIMIT_CLIENTS_MAX - 2);
    expect(ask('early')).toEqual(refusal(1, 60));
    expect(ask('one more')).toBeUndefined();
    expect(ask('early')).toEqual(refusal(1, 60));
    expect(ask('late')).toBeUndefined();
  });
});

describe('the registrations of an IP', () => {
  const config = { maxRegistrationsPerIp: 3, registrationsPerIpWindowSeconds: 86_400 } as Parameters<
    typeof ipLimitReached
  >[0]['config'];

  test.each([
    [1_000_000, 1_000_001, 1],
    [1_000_000, 1_001_000, 1],
    [1_000_000, 1_001_001, 2],
    [1_000_000, 1_000_000 + 86_400_000, 86_400],
  ])(
    'asked at %i, with the earliest lapse at %i, name a wait of %i s: never early',
    (now, lapse, retryAfterSeconds) => {
      const { code, details } = ipLimitReached({ config, metrics: createMetrics() }, '203.0.113.7', lapse, now);
      const limit = {
        name: 'registrations-per-ip',
        limit: 3,
        windowSeconds: 86_400,
        bucket: '203.0.113.7',
        retryAfterSeconds,
      };
      expect([code, details]).toEqual(['ip_limit_reached', { limit }]);
    },
  );

  test('that are all linked for good name none', () => {
    const { details } = ipLimitReached({ config, metrics: createMetrics() }, '203.0.113.7', null, 0);
    expect(details.limit).not.toHaveProperty('retryAfterSeconds');
  });
});
