import { afterAll, beforeAll, expect, test } from 'bun:test';
import { temporaryFolder } from '../support/databases.ts';
import { isLong } from '../support/long.ts';
import { type Program, startProgram } from '../support/program.ts';
import { VAULT_SECRET } from '../support/vault.ts';

/** A shared read transaction showed in more than half of them. */
const PROBES = isLong ? 100_000 : 500;
const FLOODERS = 60;
const PROBERS = 4;

const folder = temporaryFolder();
let programs: readonly [Program, Program];

beforeAll(async () => {
  const vars = {
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATABASE_URL: `file:${folder.path}/vault.db`,
    RATE_LIMIT_READS_PER_IP: '1000000000',
    RATE_LIMIT_WRITES_PER_IP: '1000000000',
    LOG_LEVEL: 'warn',
  };
  const start = () => startProgram(vars, { cwd: folder.path });
  programs = [await start(), await start()];
});
afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  folder.remove();
});

function ipOf(n: number): string {
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}

/** On a connection of its own, as nginx opens one a request by default. */
function alone(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, keepalive: false, headers: { ...init.headers, Connection: 'close' } });
}

test('what one process has acknowledged no other answers older, beside a flood of new connections', async () => {
  const [writer, reader] = programs;
  let acknowledged = 0;
  let asked = 0;
  let isOver = false;
  const stale: string[] = [];
  const probe = async () => {
    while (asked < PROBES) {
      const body = JSON.stringify({ handle: `probe${asked++}`, did: 'did:key:z6MkProbe' });
      // Clients of their own: what a write costs must not grow with the probes before it.
      const headers = { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ipOf(asked) };
      const opened = await fetch(`${writer.url}/api/sessions`, { method: 'POST', headers, body });
      expect(opened.status).toBe(200);
      const least = ++acknowledged;
      const response = await alone(`${reader.url}/api/sessions/status`);
      const { total_registrations: found } = (await response.json()) as { total_registrations: number };
      if (found < least) stale.push(`${found} of ${least}`);
    }
  };
  const flood = async () => {
    while (!isOver) await (await alone(`${reader.url}/api/aliases/check?alias=anybody`)).body?.cancel();
  };
  const flooding = Array.from({ length: FLOODERS }, flood);
  await Promise.all(Array.from({ length: PROBERS }, probe)).finally(() => {
    isOver = true;
  });
  await Promise.all(flooding);
  expect(acknowledged).toBe(PROBES);
  expect(stale).toEqual([]);
});
