import { describe, expect, test } from 'bun:test';
import {
  type BackupName,
  chooseRemoved,
  isDraft,
  readName,
  readNames,
  writeName,
} from '../../../commands/backup/backup-name.ts';
import { readInterval } from '../../../commands/backup/schedule.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const START = Date.parse('2026-01-31T00:00:00.000Z');

const backup = (number: number, time: number, registrations = 5): BackupName => {
  const facts = { vault: '1a2b3c4d', number, time, registrations };
  return { name: writeName(facts), ...facts };
};
/** Newest first. */
const hourly = (count: number) => Array.from({ length: count }, (_, i) => backup(i + 1, START + i * HOUR)).reverse();
const numbers = (backups: readonly BackupName[]) => backups.map(({ number }) => number);

describe('names', () => {
  test('say vault, number, time and registrations, and are read back', () => {
    const one = backup(17, START + 1, 4711);
    expect(one.name).toBe('vault-1a2b3c4d-000017-2026-01-31T000000.001Z-4711.backup');
    expect(readName(one.name)).toEqual(one);
  });

  test.each([
    'vault.db',
    'a.backup',
    'vault-1a2b3c4d-000017-2026-01-31T000000.001Z-4711.backup.draft.1',
    'vault-1a2b3c4d-000017-2026-99-31T000000.001Z-4711.backup',
    'Vault-1a2b3c4d-000017-2026-01-31T000000.001Z-4711.backup',
    'x/vault-1a2b3c4d-000017-2026-01-31T000000.001Z-4711.backup',
  ])('%s is none', (name) => {
    expect(readName(name)).toBeUndefined();
  });

  test('are in the order in which the backups were made, also where the clock was set back', () => {
    const [first, ahead, back] = [backup(1, START), backup(2, START + 400 * DAY), backup(3, START + 1)];
    expect(numbers(readNames([ahead, first, back].map(({ name }) => name)))).toEqual([3, 2, 1]);
  });

  test('of drafts are those of this vault alone', () => {
    const draft = `vault-1a2b3c4d-18.draft.4711.${crypto.randomUUID()}`;
    expect([draft, `${draft}-journal`].map((name) => isDraft(name, '1a2b3c4d'))).toEqual([true, true]);
    expect([draft, 'vault-1a2b3c4d-18.draft', backup(1, 1).name].map((name) => isDraft(name, '99999999'))).toEqual([
      false,
      false,
      false,
    ]);
    expect(isDraft(backup(1, START).name, '1a2b3c4d')).toBe(false);
  });
});

describe('a retention', () => {
  test('keeps the newest, and the newest of each of the last days', () => {
    const all = hourly(24 * 5);
    const removed = chooseRemoved(all, { keep: 3, keepDays: 4 });
    const kept = all.filter((one) => !removed.includes(one));
    expect(numbers(kept)).toEqual([120, 119, 118, 96, 72, 48]);
  });

  test('keeps all while there are few, and one at least', () => {
    expect(chooseRemoved(hourly(3), { keep: 3, keepDays: 0 })).toEqual([]);
    expect(numbers(chooseRemoved(hourly(3), { keep: 1, keepDays: 0 }))).toEqual([2, 1]);
    expect(chooseRemoved([], { keep: 1, keepDays: 1 })).toEqual([]);
  });

  test('keeps what was made after the clock was set back, rather than what has the latest time', () => {
    const ahead = Array.from({ length: 5 }, (_, i) => backup(i + 1, START + (100 + i) * DAY));
    const now = backup(6, START);
    const all = readNames([...ahead, now].map(({ name }) => name));
    expect(numbers(chooseRemoved(all, { keep: 2, keepDays: 0 }))).toEqual([4, 3, 2, 1]);
  });

  test('never removes the newest one with the most registrations: an emptied database pushes nothing out', () => {
    const full = [backup(1, START, 900), backup(2, START + 1, 900)];
    const empty = Array.from({ length: 10 }, (_, i) => backup(i + 3, START + 2 + i, 0));
    const all = [...full, ...empty].reverse();
    expect(numbers(chooseRemoved(all, { keep: 2, keepDays: 1 }))).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 1]);
  });
});

test.each([
  ['1s', 1_000],
  ['90s', 90_000],
  ['15m', 900_000],
  ['6h', 6 * HOUR],
  ['7d', 7 * DAY],
])('--every %s is %d ms', (text, ms) => {
  expect(readInterval(text)).toBe(ms);
});

test.each(['', '0s', '8d', '15', 'm', '1.5h', '-1m', '15 m', '1w', '9999999s'])('--every %p is refused', (text) => {
  expect(() => readInterval(text)).toThrow('--every must be a number with s, m, h or d');
});
