import { describe, expect, test } from 'bun:test';
import { type ConsoleEvent, createRing, matches, readEvent } from '../../../assets/console/events.ts';

const ALL = { hidden: new Set<string>(), text: '' };

function event(id: number, overrides: Partial<ConsoleEvent> = {}): ConsoleEvent {
  const data = { identifier: 'a***@example.com' };
  return {
    id,
    app: 'default',
    channel: 'audit',
    type: 'code.sent',
    at: '2025-01-01T00:00:00.000Z',
    data,
    ...overrides,
  };
}

describe('an event', () => {
  test('is read out of a frame', () => {
    const data = JSON.stringify({ ...event(7), data: { channel: 'sms' } });
    expect(readEvent(data)).toMatchObject({ id: 7, channel: 'audit', data: { channel: 'sms' } });
  });

  test.each(['', 'nonsense', 'null', '[]', '{"id":"7","type":"a","channel":"b"}', '{"id":7}'])('%p is none', (text) => {
    expect(readEvent(text)).toBeUndefined();
  });

  test('is let through by channel and by all words, whatever their case', () => {
    expect(matches(event(1), ALL)).toBe(true);
    expect(matches(event(1), { ...ALL, hidden: new Set(['audit']) })).toBe(false);
    expect(matches(event(1), { ...ALL, text: ' CODE  Example ' })).toBe(true);
    expect(matches(event(1, { app: 'shop' }), { ...ALL, text: 'shop code' })).toBe(true);
    expect(matches(event(1), { ...ALL, text: 'code sessions' })).toBe(false);
  });
});

describe('the ring', () => {
  test('keeps the newest, newest first, and counts all', () => {
    const ring = createRing(3);
    for (let id = 1; id <= 10; id++) {
      ring.push(event(id, { channel: id % 2 === 0 ? 'audit' : 'sessions' }));
      const ids = ring.matching(ALL).map((one) => one.id);
      expect(ids).toEqual([id, id - 1, id - 2].filter((one) => one > 0));
      expect(ring.counts()).toMatchObject({ kept: Math.min(3, id), seen: id });
    }
    expect(ring.matching({ ...ALL, hidden: new Set(['audit']) }).map(({ id }) => id)).toEqual([9]);
    expect(Object.fromEntries(ring.counts().byChannel)).toEqual({ audit: 5, sessions: 5 });
    ring.clear();
    expect(ring.counts()).toMatchObject({ kept: 0, seen: 0 });
    expect(ring.matching(ALL)).toEqual([]);
  });
});
