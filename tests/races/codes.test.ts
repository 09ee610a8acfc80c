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
const SENDS_MAX = 40;
/** As long as the settings allow, so that no code expires meanwhile on a busy machine. */
const CODE_MS = 600_000;
const vars = {
  VAULT_SECRET,
  OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
  RATE_LIMIT_READS_PER_IP: '100000',
  RATE_LIMIT_CODES_PER_IDENTIFIER: String(SENDS_MAX),
  EMAIL_CODE_EXPIRY_SECONDS: String(CODE_MS / 1000),
};

/** Where two processes meet: one database file, or one libSQL server. */
const PLACES = [
  {
    name: 'one database file',
    open: async (dir: string) => ({ url: `file:${join(dir, 'vault.db')}`, stop: async () => {} }),
  },
  { name: 'one libSQL server', open: (dir: string) => startLibsql({ dir }) },
];

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

describe.each(PLACES)('codes of two processes on $name', ({ open }) => {
  const dir = mkdtempSync(join(tmpdir(), 'vault-races-'));
  let place: Awaited<ReturnType<typeof open>>;
  let programs: Program[] = [];

  beforeAll(async () => {
    place = await open(dir);
    if (!place) return console.log('no libSQL server for this machine: its races are left out');
    const all = { ...vars, DATABASE_URL: place.url, DATA_DIR: dir };
    programs = await Promise.all([startProgram(all, { cwd: dir }), startProgram(all, { cwd: dir })]);
  });
  afterAll(async () => {
    await Promise.all(programs.map((program) => program.stop()));
    await place?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  let sent = 0;
  const post = async (path: string, ip: string, body: object, n = sent++): Promise<Answer> => {
    const response = await fetch(`${programs[n % 2]?.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ip },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  /** `TIMES` requests at once, every other one to the other process, each from an address of its own. */
  const storm = (path: string, net: string, body: (n: number) => object, ip = (n: number) => `${net}.${n}`) =>
    Promise.all(Array.from({ length: TIMES }, (_, n) => post(path, ip(n), body(n), n)));
  const count = (answers: readonly Answer[], holds: (answer: Answer) => boolean) => answers.filter(holds).length;

  /** What the newest message to an address carried. */
  const carried = async (to: string, before = 0): Promise<{ code?: string; pass?: string }> => {
    const lines = await until(`${before + 1} messages to ${to} are printed`, () => {
      const printed = programs.flatMap((program) => program.output().split('\n'));
      const found = printed.filter((line) => line.includes(`"to":"${to}"`));
      return found.length > before && found.map((line) => JSON.parse(line));
    });
    const last = lines.toSorted((a, b) => (a.time < b.time ? -1 : 1)).at(-1);
    return { code: last.code, pass: String(last.pass ?? '').split('#')[1] ?? '' };
  };
  const mail = (name: string) => ({ identifier: `${name}@example.com`, channel: 'email' });

  test(`200 concurrent sends to one identifier, each from its own address, give exactly ${SENDS_MAX}`, async () => {
    if (!place) return;
    const answers = await storm('/api/verify/send', '10.1.0', () => mail('many'));
    expect([count(answers, ({ status }) => status === 200), count(answers, ({ status }) => status === 429)]).toEqual([
      SENDS_MAX,
      TIMES - SENDS_MAX,
    ]);
  });

  test('200 concurrent strangers spend exactly 2 checks, the right code among them or not', async () => {
    if (!place) return;
    const who = mail('owner');
    await post('/api/verify/send', '10.2.1.1', who);
    const { code } = await carried(who.identifier);
    const answers = await storm('/api/verify/check', '10.2.0', () => ({ ...who, code: otherCode(code) }));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body)))).toEqual(
      new Set([JSON.stringify({ ok: true, verified: false, message: 'Incorrect code' })]),
    );
    const late = await storm('/api/verify/check', '10.2.0', () => ({ ...who, code }));
    expect(count(late, ({ body }) => body['verified'] === true)).toBe(0);
    const { body } = await post('/api/verify/check', '10.2.1.1', { ...who, code: otherCode(code) });
    expect(body['attempts_remaining']).toBe(2);
    expect((await post('/api/verify/check', '10.2.1.1', { ...who, code })).body['verified']).toBe(true);
  });

  test('of 200 concurrent right codes, by the asker, by its challenge and by strangers, one verifies', async () => {
    if (!place) return;
    const who = mail('right');
    const { challenge } = (await post('/api/verify/send', '10.3.1.1', who)).body;
    const { code } = await carried(who.identifier);
    const by = [{ code }, { code, challenge }, { code }];
    const ip = (n: number) => (n % 3 === 2 ? `10.3.0.${n}` : '10.3.1.1');
    const answers = await storm('/api/verify/check', '', (n) => ({ ...who, ...by[n % 3] }), ip);
    expect(count(answers, ({ body }) => body['verified'] === true)).toBe(1);
  });

  test('of 200 concurrent guesses at 40 live codes of one identifier none verifies once 20 were wrong', async () => {
    if (!place) return;
    const who = mail('guessed');
    const codes: string[] = [];
    const start = Date.now();
    for (let n = 0; n < SENDS_MAX; n++) {
      await post('/api/verify/send', `10.4.0.${n}`, who);
      codes.push((await carried(who.identifier, n)).code ?? '');
    }
    // Clients 0 to 3 guess wrong, five times each; all others have the right code, and come later.
    const wrong = { ...who, code: otherCode(...codes) };
    const first = Array.from({ length: 20 }, (_, n) => post('/api/verify/check', `10.4.0.${n % 4}`, wrong));
    expect(count(await Promise.all(first), ({ body }) => body['message'] === 'Incorrect code')).toBe(20);
    const ip = (n: number) => `10.4.0.${4 + (n % 36)}`;
    const late = await storm('/api/verify/check', '', (n) => ({ ...who, code: codes[4 + (n % 36)] }), ip);
    // Else the codes had expired, and nothing is shown.
    expect(Date.now() - start).toBeLessThan(CODE_MS);
    expect(count(late, ({ body }) => body['verified'] === true)).toBe(0);
  });

  test('200 concurrent sends with a pass give exactly 5, and none of them is the address’s or the IP’s', async () => {
    if (!place) return;
    const who = mail('passed');
    await post('/api/verify/send', '10.5.1.1', who);
    const { pass } = await carried(who.identifier);
    const answers = await storm(
      '/api/verify/send',
      '',
      () => ({ ...who, pass }),
      () => '10.5.1.1',
    );
    expect(count(answers, ({ status }) => status === 200)).toBe(5);
    expect((await post('/api/verify/send', '10.5.1.1', who)).body).toMatchObject({ ok: true, retry_after: 0 });
  });

  test('200 concurrent presses of one pass let exactly 20 clients send', async () => {
    if (!place) return;
    const who = mail('pressed');
    await post('/api/verify/send', '10.6.1.1', who);
    const { pass = '' } = await carried(who.identifier);
    const presses = await Promise.all(
      Array.from({ length: TIMES }, async (_, n) => {
        const headers = { 'Edge-Connecting-IP': `10.6.0.${n}` };
        const body = new URLSearchParams({ pass });
        const url = `${programs[n % 2]?.url}/pass`;
        return (await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })).headers.get('location');
      }),
    );
    expect([presses.filter((to) => to === '/pass/ready').length, new Set(presses).size]).toEqual([20, 2]);
  });
});
