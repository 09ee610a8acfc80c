import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { databaseOf, openDatabase } from '../../../commands/storage/database.ts';
import { DAY_MS, MINUTE_MS, systemClock } from '../../../lib/base/clock.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { createVault } from '../../../routes/index.ts';
import { timedBy, VAULT_SECRET } from '../../support/vault.ts';

/** What an operation took, how long it stopped all others at a time, and the memory of its process after it. */
export interface Taken {
  readonly name: string;
  readonly ms: number;
  /** Null of a command. */
  readonly stallMs: number | null;
  readonly residentMb: number;
  readonly status: number | string;
}

const SECRET = VAULT_SECRET.replace('00', 'ff');
const VARS = { VAULT_SECRET, OPERATOR_SECRET: SECRET, DID_REGISTRY_ADDRESS: 'none', FOLLOWER: 'false' };

/** All of it on one file: requests and background work in one other process, each command in one of its own. */
export async function takenOn(path: string): Promise<readonly Taken[]> {
  const inside = Bun.spawn([process.execPath, import.meta.path, path], { stdout: 'pipe', stderr: 'inherit' });
  const served = (await new Response(inside.stdout).json()) as Taken[];
  const [backup, exported] = ['backup', 'export'].map((word) => `${path}.${word}`) as [string, string];
  const commands = [['migrate', '--dry-run'], ['export', '--out', exported], ['backup', backup], ['doctor']];
  const run: Taken[] = [];
  for (const [word = '', ...rest] of commands) run.push(await commandOn(path, word, rest));
  for (const file of [backup, exported]) rmSync(file, { force: true });
  return [...served, ...run];
}

async function commandOn(path: string, word: string, rest: readonly string[]): Promise<Taken> {
  const script = join(import.meta.dir, '../../../server.ts');
  const start = performance.now();
  const child = Bun.spawn([process.execPath, script, word, ...rest], {
    env: { ...process.env, ...VARS, DATABASE_URL: `file:${path}` },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const status = await child.exited;
  // The doctor finds fault with a vault without mail or chain.
  if (status !== 0 && word !== 'doctor') throw new Error(`vault ${word} ended with ${status}`);
  const residentMb = (child.resourceUsage()?.maxRSS ?? 0) / 1e6;
  return { name: `vault ${word}`, ms: performance.now() - start, stallMs: null, residentMb, status };
}

/** What an operator asks, and what runs by itself, on a file: one after the other, in this process. */
async function operationsOf(path: string): Promise<readonly Taken[]> {
  const vars = { ...VARS, DATABASE_URL: `file:${path}` };
  const taken: Taken[] = [];
  const database = await openDatabase(databaseOf(readConfig(vars)));
  const shift = { ms: 0 };
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + shift.ms,
    monotonic: () => systemClock.monotonic() + shift.ms,
  };
  const vault = createVault({ vars, database: timedBy({ monotonic: clock.now }, database), clock, log: () => {} });
  const ask = async (path: string) => {
    const headers = { Authorization: `Bearer ${SECRET}`, Host: 'localhost' };
    const response = await vault.fetch(new Request(`http://localhost${path}`, { headers }));
    await response.arrayBuffer();
    return response.status;
  };
  const note = async (name: string, run: () => Promise<number | string>) => taken.push(await timed(name, run));
  await note('the first turn of background work', async () => {
    await vault.work(clock.now() + 5_000);
    return 'done';
  });
  for (const path of ROUTES) await note(`GET ${path}`, () => ask(path));
  shift.ms = 9 * DAY_MS;
  await note('the sweep after nine days', async () => {
    let turns = 0;
    for (const before = rowsOf(); ; turns++) {
      await vault.work(clock.now() + 5_000);
      if (!(await hasExpired())) return `${(await before) - (await rowsOf())} rows in ${turns + 1} turns`;
      // What is left is due in the next minute.
      shift.ms += MINUTE_MS;
      await Bun.sleep(0);
    }
  });
  await vault.close();
  database.close();
  return taken;

  async function rowsOf(): Promise<number> {
    const counts = SWEPT.map((table) => `(SELECT count(*) FROM ${table})`).join(' + ');
    return Number((await database.execute({ sql: `SELECT ${counts} AS n`, args: {} })).rows[0]?.['n']);
  }
  async function hasExpired(): Promise<boolean> {
    const some = SWEPT.map((table) => `EXISTS (SELECT 1 FROM ${table})`).join(' OR ');
    return Number((await database.execute({ sql: `SELECT ${some} AS n`, args: {} })).rows[0]?.['n']) === 1;
  }
}

const SWEPT = ['codes', 'budget_uses', 'webhook_deliveries', 'attestation_uses'];
const ROUTES = [
  '/readyz',
  '/api/sessions/status',
  '/v1/console/overview',
  '/v1/console/limits',
  '/v1/console/registrations?did=did:key:z',
  '/v1/console/recoveries',
  '/v1/console/webhooks?status=dead',
  '/v1/console/webhooks?status=delivered',
];

async function timed(name: string, run: () => Promise<number | string>): Promise<Taken> {
  let [last, stallMs] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    stallMs = Math.max(stallMs, now - last);
    last = now;
  }, 1);
  await Bun.sleep(5);
  const start = performance.now();
  last = start;
  stallMs = 0;
  const status = await run();
  const ms = performance.now() - start;
  await Bun.sleep(2);
  clearInterval(timer);
  return { name, ms, stallMs: Math.min(ms, stallMs), residentMb: process.memoryUsage.rss() / 1e6, status };
}

if (import.meta.main) console.log(JSON.stringify(await operationsOf(process.argv[2] ?? '')));
