import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS, eventJson, maskClient, maskCredential } from '../../../lib/events/catalogue.ts';

const PAGE = readFileSync(join(import.meta.dir, '../../../docs/events.md'), 'utf8');

describe('the catalogue', () => {
  test('is the one of docs/events.md: types, channels, what they tell and hold, in the same order', () => {
    const rows = PAGE.split('\n').filter((line) => /^\| `[a-z]+\.[a-z_]+` \|/.test(line));
    expect(rows).toEqual(
      Object.entries(EVENTS).map(
        ([type, { channel, description, data }]) =>
          `| \`${type}\` | ${channel} | ${description} | ${data.map((name) => `\`${name}\``).join(', ')} |`,
      ),
    );
  });

  test('names no code, secret or whole credential as a member', () => {
    // The token of a payment is a contract's address.
    const { 'payment.settled': payment, ...others } = EVENTS;
    const members = [...Object.values(others), { data: payment.data.filter((name) => name !== 'token') }].flatMap(
      ({ data }) => [...data] as string[],
    );
    expect(
      members.filter((name) => ['code', 'secret', 'token', 'digest', 'credential_id', 'ip'].includes(name)),
    ).toEqual([]);
  });
});

test('an event on the wire is its row, with its data in it', () => {
  const stored = {
    id: 7,
    app: 'shop',
    channel: 'audit',
    type: 'code.sent',
    at: 1_735_689_600_000,
    data: '{"a":"b\\n"}',
  };
  expect(JSON.parse(eventJson(stored))).toEqual({ ...stored, at: '2025-01-01T00:00:00.000Z', data: { a: 'b\n' } });
  expect(eventJson(stored)).not.toContain('\n');
});

test.each([
  ['203.0.113.7', '203.0.113.***'],
  ['2001:db8:1:2::/64', '2001:db8:***'],
  ['unknown', 'unknown'],
])('the client %s is shown as %s', (client, shown) => {
  expect(maskClient(client)).toBe(shown);
});

test('of a credential id six characters are shown', () => {
  expect(maskCredential('AAECAwQFBgcICQoLDA0ODw')).toBe('AAECAw***');
});
