import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { otherCode } from '../support/digits.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const TIMES = 200;
const secrets = { VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') };

/** Where two processes meet: one database file, or one libSQL server. */
const PLACES = [
  {
    name: 'one database file',
    open: async (dir: string) => ({ url: `file:${join(dir, 'vault.db')}`, stop: async () => {} }),
  },
  { name: 'one libSQL server', open: (dir: string) => startLibsql({ dir }) },
];

describe.each(PLACES)('two processes on $name', ({ open }) => {
  const dir = mkdtempSync(join(tmpdir(), 'vault-races-'));
  let place: Awaited<ReturnType<typeof open>>;
  let programs: Program[] = [];

  const start = async (more: Readonly<Record<string, string>> = {}) => {
    const vars = {
      ...more,
      ...secrets,
      DATABASE_URL: place?.url ?? '',
      DATA_DIR: dir,
      RATE_LIMIT_READS_PER_IP: '100000',
    };
    programs = await Promise.all([startProgram(vars, { cwd: dir }), startProgram(vars, { cwd: dir })]);
  };
  const stop = () => Promise.all(programs.map((program) => program.stop()));

  beforeAll(async () => {
    place = await open(dir);
    if (place) await start();
    else console.log('no libSQL server for this machine: its races are left out');
  });
  afterAll(async () => {
    await stop();
    await place?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** `TIMES` requests at once, every other one to the other process. */
  const storm = (path: string, ip: string, body: (n: number) => Record<string, unknown>) =>
    Promise.all(
      Array.from({ length: TIMES }, async (_, n) => {
        const response = await fetch(`${programs[n % 2]?.url}${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ip },
          body: JSON.stringify(body(n)),
        });
        return { status: response.status, body: (await response.json()) as Record<string, unknown> };
      }),
    );
  const codeFor = (to: string) =>
    until(`the code for ${to} is printed`, () => {
      const printed = programs.map((program) => program.output()).join('\n');
      const line = printed.split('\n').findLast((text) => text.includes(`"${to}"`) && text.includes('"code"'));
      return line && (JSON.parse(line) as { code: string }).code;
    });
  const tally = (results: readonly { status: number }[]) =>
    Object.fromEntries(
      [...Map.groupBy(results, ({ status }) => status)].map(([status, { length }]) => [status, length]),
    );

  test('200 concurrent sends from one IP give exactly 3', async () => {
    if (!place) return;
    const results = await storm('/api/verify/send', '203.0.113.1', (n) => ({
      identifier: `u${n}@example.com`,
      channel: 'email',
    }));
    expect(tally(results)).toEqual({ 200: 3, 429: TIMES - 3 });
  });

  test('200 concurrent checks of one right code verify exactly once', async () => {
    if (!place) return;
    const who = { identifier: 'right@example.com', channel: 'email' };
    await fetch(`${programs[0]?.url}/api/verify/send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': '203.0.113.2' },
      body: JSON.stringify(who),
    });
    const code = await codeFor(who.identifier);
    const results = await storm('/api/verify/check', '203.0.113.2', () => ({ ...who, code }));
    expect(tally(results)).toEqual({ 200: TIMES });
    expect(results.filter(({ body }) => body['verified'] === true)).toHaveLength(1);
  });

  test('200 concurrent wrong codes spend exactly 5 attempts, and the right one is then refused', async () => {
    if (!place) return;
    const who = { identifier: 'wrong@example.com', channel: 'email' };
    await fetch(`${programs[1]?.url}/api/verify/send`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': '203.0.113.3' },
      body: JSON.stringify(who),
    });
    const code = await codeFor(who.identifier);
    const results = await storm('/api/verify/check', '203.0.113.3', () => ({ ...who, code: otherCode(code) }));
    const counted = results.filter(({ body }) => body['message'] === 'Incorrect code');
    expect(counted.map(({ body }) => body['attempts_remaining']).toSorted()).toEqual([0, 1, 2, 3, 4]);
    expect(results.filter(({ body }) => body['message'] === 'Too many attempts')).toHaveLength(TIMES - 5);
    const right = await storm('/api/verify/check', '203.0.113.3', () => ({ ...who, code }));
    expect(right.filter(({ body }) => body['verified'] === true)).toHaveLength(0);
  });

  test('200 concurrent sessions from one IP give exactly 3; limits are unchanged after a restart', async () => {
    if (!place) return;
    const body = (n: number) => ({ identifier: `handle${n}`, channel: 'handle', did: 'did:key:z6Mk' });
    expect(tally(await storm('/api/sessions', '203.0.113.4', body))).toEqual({ 200: 3, 429: TIMES - 3 });
    await stop();
    await start();
    expect(tally(await storm('/api/sessions', '203.0.113.4', (n) => body(n + TIMES)))).toEqual({ 429: TIMES });
    const sends = await storm('/api/verify/send', '203.0.113.1', (n) => ({
      identifier: `v${n}@example.com`,
      channel: 'email',
    }));
    expect(tally(sends)).toEqual({ 429: TIMES });
  });

  test('200 concurrent registrations by an invite for 3 are exactly 3; sessions beside take nothing of it', async () => {
    if (!place) return;
    await stop();
    await start({ REGISTRATION: 'invite', MAX_REGISTRATIONS_PER_IP: '1000', RATE_LIMIT_WRITES_PER_IP: '100000' });
    const made = await fetch(`${programs[0]?.url}/v1/console/invites`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', authorization: `Bearer ${secrets.OPERATOR_SECRET}` },
      body: JSON.stringify({ uses: 3 }),
    });
    const { token: invite } = (await made.json()) as { token: string };
    const guest = (n: number) => ({ identifier: `guest${n}`, channel: 'handle', did: `did:key:z${n}`, invite });
    const onChain = (n: number) => ({
      credentialId: Buffer.from(`guest${n}`.padEnd(16, '.')).toString('base64url'),
      txHash: `0x${String(n).padStart(64, '0')}`,
    });
    const [sessions, registrations] = await Promise.all([
      storm('/api/sessions', '203.0.113.5', guest),
      storm('/api/dids', '203.0.113.6', (n) => ({ ...guest(n + TIMES), ...onChain(n) })),
    ]);
    const all = [...sessions, ...registrations];
    expect(tally(registrations)).toEqual({ 200: 3, 403: TIMES - 3 });
    expect(new Set(all.filter(({ status }) => status === 403).map(({ body }) => body['error']))).toEqual(
      new Set(['invite_invalid']),
    );
  });
});
