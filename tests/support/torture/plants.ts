import type { Invariant } from './ledger.ts';

/** A bug for the torture to find: what it changes in the sources, where it is looked for, and what it violates. */
export interface Plant {
  readonly name: string;
  readonly violates: Invariant;
  readonly world: 'file' | 'two' | 'server';
  /** The faults under which it is looked for; none are needed where it is empty. */
  readonly only: readonly string[];
  readonly edits: readonly Edit[];
}

/** A text that a file has once, and what it becomes. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** The file's text with the edit; throws unless it has the place once. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
  return parts.join(replace);
}

const POWER = 'the power goes and tears writes';

/** One for each invariant at least. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'commits are not synced',
    violates: 'an acknowledged write is there',
    world: 'file',
    only: [POWER],
    edits: [
      { file: 'commands/storage/connection.ts', find: "'synchronous = FULL'", replace: "'synchronous = NORMAL'" },
    ],
  },
  {
    name: 'nothing is synced',
    violates: 'the database is whole',
    world: 'file',
    only: [POWER],
    edits: [
      { file: 'commands/storage/connection.ts', find: "'synchronous = FULL'", replace: "'synchronous = OFF'" },
      {
        file: 'commands/storage/connection.ts',
        find: "'user_version',",
        replace: "'wal_autocheckpoint = 20',\n  'user_version',",
      },
    ],
  },
  {
    name: 'a count is kept for a second',
    violates: 'no process answers older than what was acknowledged',
    world: 'two',
    only: [],
    edits: [
      {
        file: 'lib/sessions/sessions.ts',
        find: '  const most = Math.max(',
        replace: '  if (kept && clock.monotonic() < kept.until) return kept.counts;\n  const most = Math.max(',
      },
      {
        file: 'lib/sessions/sessions.ts',
        find: "  return { byIp: Number(row?.['by_ip'] ?? 0), total: Number(row?.['total'] ?? 0) };",
        replace:
          "  const counts = { byIp: Number(row?.['by_ip'] ?? 0), total: Number(row?.['total'] ?? 0) };\n  kept = { counts, until: clock.monotonic() + 1000 };\n  return counts;",
      },
      {
        file: 'lib/sessions/sessions.ts',
        find: 'const SESSIONS_COUNTED_MAX = 100;',
        replace:
          'const SESSIONS_COUNTED_MAX = 100;\nlet kept: { until: number; counts: { byIp: number; total: number } } | undefined;',
      },
    ],
  },
  {
    name: 'a used code is not refused by the write',
    violates: 'each code verifies once',
    world: 'two',
    only: [],
    edits: [
      {
        file: 'lib/verification/check-store.ts',
        find: 'WHERE seq = :seq AND consumed_at IS NULL AND expires_at',
        replace: 'WHERE seq = :seq AND expires_at',
      },
    ],
  },
  {
    name: 'the write does not count the guesses',
    violates: 'no limit is exceeded',
    world: 'two',
    only: [],
    edits: [
      {
        file: 'lib/verification/check-store.ts',
        find: 'AND expires_at > :now AND attempts < :attempts_max`',
        replace: 'AND expires_at > :now AND :attempts_max > 0`',
      },
    ],
  },
  {
    name: 'an attestation may be spent again',
    violates: 'no attestation is used twice',
    world: 'two',
    only: [],
    edits: [
      {
        file: 'lib/registration/claim-store.ts',
        find: 'EXISTS (SELECT 1 FROM attestation_uses WHERE signature = :signature)',
        replace: 'EXISTS (SELECT 1 FROM attestation_uses WHERE signature = :signature AND 0)',
      },
      {
        file: 'lib/verification/store.ts',
        find: 'INSERT INTO attestation_uses (signature, expires_at) SELECT',
        replace: 'INSERT OR IGNORE INTO attestation_uses (signature, expires_at) SELECT',
      },
    ],
  },
  {
    name: 'a claim is written twice',
    violates: 'no registration is doubled',
    world: 'two',
    only: [],
    edits: [
      {
        file: 'lib/registration/claim-store.ts',
        find: '    change(INSERT_REGISTRATION),\n',
        replace: '    change(INSERT_REGISTRATION),\n    change(INSERT_REGISTRATION),\n',
      },
    ],
  },
  {
    name: 'any answer of a receiver counts',
    violates: 'webhooks arrive at least once, as they were signed',
    world: 'file',
    only: ['kill -9'],
    edits: [
      {
        file: 'lib/webhooks/worker.ts',
        find: '  const result = await slots.patiently(',
        replace:
          "  if (delivery.attempts === 0 && delivery.event.id % 7 === 0)\n    return void (await db.write(recordAttempt(delivery, { is: 'delivered', status: 200 }, clock.now())));\n  const result = await slots.patiently(",
      },
    ],
  },
  {
    name: 'a stream resumes an event too far',
    violates: 'streams have no gap',
    world: 'file',
    only: ['kill -9'],
    edits: [
      {
        file: 'lib/streams/hub.ts',
        find: ': { cursor: after, isRewound: false };',
        replace: ': { cursor: Math.min(after + 1, newest), isRewound: false };',
      },
    ],
  },
  {
    name: 'a page is read beside new events',
    violates: 'streams repeat nothing',
    world: 'server',
    only: [],
    edits: [
      {
        file: 'lib/streams/subscriber.ts',
        find: '  send(subscriber, events.map(eventFrame));\n',
        replace: '  subscriber.reading = false;\n  send(subscriber, events.map(eventFrame));\n',
      },
    ],
  },
  {
    name: 'readiness is a write that changes nothing',
    violates: 'no answer is a lie',
    world: 'file',
    only: ['the disk is filled to the last byte'],
    edits: [{ file: 'lib/monitoring/store.ts', find: 'SET value = value + 1', replace: 'SET value = value' }],
  },
  {
    name: 'a lease lasts until its end, however far that is',
    violates: 'it recovers without a human',
    world: 'two',
    only: ['a clock jumps by hours'],
    edits: [
      { file: 'lib/db/leases.ts', find: '      OR until > :latest\n', replace: '      OR until > :latest + 1e15\n' },
      {
        file: 'lib/db/leases.ts',
        find: ' && end > now && end <= latestEnd(now, until - now)',
        replace: ' && end > now && until > 0',
      },
    ],
  },
  {
    name: 'webhooks that a clock put off are not recalled',
    violates: 'it recovers without a human',
    world: 'two',
    only: ['a clock jumps by hours'],
    edits: [
      {
        file: 'lib/background.ts',
        find: '...queues.map(',
        replace: '...queues.filter((queue) => queue !== DELIVERIES).map(',
      },
    ],
  },
];
