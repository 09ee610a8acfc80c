// npm run bench:rivals [-- --save --rounds N --ms N]: the vault beside what else one could build its routes with, and
// beside better-auth, in the same rounds. The others are in tests/bench/rivals/, with a lock file of their own.
import { join } from 'node:path';
import { type Finding, load, request } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { leaveServerCore } from './frame/place.ts';
import { LOAD_COLUMNS, loadCells, publish, type Table } from './frame/report.ts';
import { type Case, interleaved, ratioOf } from './frame/rounds.ts';
import { benchFolder, startServer, startTarget, type Target } from './frame/target.ts';
import { betterAuthWork } from './rivals/better-auth-work.ts';
import { dependencies } from './rivals/package.json';
import { CODE, lookupRequest, mustBeOk, register, vaultWork } from './vault-work.ts';

const FOLDER = join(import.meta.dir, 'rivals');
const VAULT = 'vault';
const SEND = 'vault, send';
const CHECK = 'vault, check';

const options = benchOptions();
const folder = benchFolder();
const targets: Target[] = [];
install();
leaveServerCore();
try {
  const vault = keep(await startServer('vault', { DID_REGISTRY_ADDRESS: 'none' }));
  await register(vault);
  const tables = [...(await benchReads(vault)), await benchCodes(vault)];
  const { 'better-auth': betterAuth, elysia, hono } = dependencies;
  const versions = { 'better-auth': betterAuth, Elysia: elysia, Hono: hono };
  await publish({ name: 'rivals', tables, versions }, options);
} finally {
  for (const target of targets) await target.stop();
  folder.remove();
}

/** The routes that read: on each framework as bare as it goes, and doing what the vault does. */
async function benchReads(vault: Target): Promise<Table[]> {
  const rivals = [
    { name: 'bare Bun.serve', target: await start('bun.ts') },
    { name: 'Elysia, bare', target: await start('elysia.ts') },
    { name: 'Elysia with CORS', target: await start('elysia.ts', 'cors') },
    { name: 'Hono, bare', target: await start('hono.ts') },
    { name: 'Hono with CORS', target: await start('hono.ts', 'cors') },
    { name: 'Hono, the same work, lean', target: await start('hono.ts', 'lean') },
    { name: 'Hono, the same work, packages', target: await start('hono.ts', 'packages') },
  ];
  const work = vaultWork(vault, options.ms);
  const beside = (ours: Case, run: (target: Target) => Promise<Finding>) =>
    interleaved([ours, ...rivals.map(({ name, target }) => ({ name, run: () => run(target) }))], options);
  const status = await beside({ name: VAULT, run: work.status }, statusOf);
  const lookup = await beside({ name: VAULT, run: work.lookup }, lookupOf);
  return [readsTable('GET /api/status', status), readsTable('GET /api/dids/lookup', lookup)];
}

function readsTable(title: string, findings: ReadonlyMap<string, readonly Finding[]>): Table {
  const ours = findings.get(VAULT);
  const rows = [...findings].map(([name, all]) => ({
    name,
    cells: [...loadCells(all), ratioOf(ours, all, (one) => one.cpuMicros)],
  }));
  return { title, columns: [...LOAD_COLUMNS, { title: 'vault’s µs ÷ its µs', digits: 2 }], rows };
}

/** Codes by mail: sending one, and proving the address with it. */
async function benchCodes(vault: Target): Promise<Table> {
  const work = vaultWork(vault, options.ms);
  const rival = betterAuthWork(await start('better-auth.ts', CODE), CODE, options.ms);
  const findings = await interleaved(
    [
      [
        { name: SEND, run: work.send },
        { name: CHECK, run: work.check },
      ],
      [
        { name: 'better-auth, send-verification-otp', run: rival.send },
        { name: 'better-auth, sign-in/email-otp', run: rival.signIn },
        { name: 'better-auth, send to a known person', run: rival.sendToKnown },
        { name: 'better-auth, verify-email', run: rival.verify },
      ],
    ],
    options,
  );
  const rows = [...findings].map(([name, all]) => {
    const ours = findings.get(name.includes('send') ? SEND : CHECK);
    return { name, cells: [...loadCells(all), ratioOf(ours, all, (one) => one.perSecond)] };
  });
  const columns = [...LOAD_COLUMNS, { title: 'vault’s rate ÷ its rate', digits: 1 }];
  return { title: 'Codes by mail, every commit synced', columns, rows };
}

async function statusOf(target: Target): Promise<Finding> {
  return mustBeOk(
    await load(target, () => request('GET', '/api/status'), { ms: options.ms, holds: '"chainId":84532' }),
  );
}

async function lookupOf(target: Target): Promise<Finding> {
  return mustBeOk(await load(target, lookupRequest, { ms: options.ms, holds: '"did":"did:key:z' }));
}

/** A server of tests/bench/rivals/ with a file of its own. */
async function start(script: string, ...args: readonly string[]): Promise<Target> {
  const file = join(folder.path, `${targets.length}.db`);
  const command = [process.execPath, join(FOLDER, script), file, ...args];
  return keep(await startTarget(command, { env: { NODE_ENV: 'production' } }));
}

function keep(target: Target): Target {
  targets.push(target);
  return target;
}

/** What the rivals need, as their lock file has it. */
function install(): void {
  const command = [process.execPath, 'install', '--frozen-lockfile', '--no-summary'];
  const { exitCode } = Bun.spawnSync(command, { cwd: FOLDER, stdout: 'ignore', stderr: 'inherit' });
  if (exitCode !== 0) throw new Error('the rivals could not be installed');
}
