// npm run bench:rivals [-- --save --rounds N --ms N]: the vault beside what else one could build its routes with, and
// beside better-auth, in the same rounds. The others are in tests/bench/rivals/, with a lock file of their own.
import { join } from 'node:path';
import { type Finding, load, request } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { leaveServerCore } from './frame/place.ts';
import { type Figure, LOAD_COLUMNS, loadCells, loadNotes, publish, type Table } from './frame/report.ts';
import { type Case, interleaved, ratioOf } from './frame/rounds.ts';
import { benchFolder, startServer, startTarget, type Target } from './frame/target.ts';
import { betterAuthWork } from './rivals/better-auth-work.ts';
import { installRivals } from './rivals/install.ts';
import { dependencies } from './rivals/package.json';
import { CODE, lookupRequest, mustBeOk, register, vaultWork } from './vault-work.ts';

const FOLDER = join(import.meta.dir, 'rivals');
const VAULT = 'vault';
const HONO_CORS = 'Hono with CORS';
const HONO_LEAN = 'Hono, the same work, lean';
const HONO_PACKAGES = 'Hono, the same work, packages';
const SEND = 'vault, send, thread';
const CHECK = 'vault, check, thread';
const THEIR_SEND = 'better-auth, send-verification-otp';
const THEIR_CHECK = 'better-auth, verify-email';

const options = benchOptions();
const folder = benchFolder();
const targets: Target[] = [];
installRivals();
leaveServerCore();
try {
  const vault = await startVault('vault');
  await register(vault);
  const parts = [...(await benchReads(vault)), await benchCodes(vault, await startVault('vault-inline'))];
  const { 'better-auth': betterAuth, elysia, hono } = dependencies;
  const versions = { 'better-auth': betterAuth, Elysia: elysia, Hono: hono };
  const tables = parts.map(({ table }) => table);
  const figures = parts.flatMap((part) => part.figures);
  await publish({ name: 'rivals', tables, figures, versions }, options);
} finally {
  for (const target of targets) await target.stop();
  folder.remove();
}

/** A table and what it is judged by. */
interface Part {
  readonly table: Table;
  readonly figures: readonly Figure[];
}

/** The routes that read: on each framework as bare as it goes, and doing what the vault does. */
async function benchReads(vault: Target): Promise<Part[]> {
  const rivals = [
    { name: 'bare Bun.serve', target: await start('bun.ts') },
    { name: 'Elysia, bare', target: await start('elysia.ts') },
    { name: 'Elysia with CORS', target: await start('elysia.ts', 'cors') },
    { name: 'Hono, bare', target: await start('hono.ts') },
    { name: HONO_CORS, target: await start('hono.ts', 'cors') },
    { name: HONO_LEAN, target: await start('hono.ts', 'lean') },
    { name: HONO_PACKAGES, target: await start('hono.ts', 'packages') },
  ];
  const work = vaultWork(vault, options.ms);
  const beside = (ours: Case, run: (target: Target) => Promise<Finding>) =>
    interleaved([ours, ...rivals.map(({ name, target }) => ({ name, run: () => run(target) }))], options);
  const status = await beside({ name: VAULT, run: work.status }, statusOf);
  const lookup = await beside({ name: VAULT, run: work.lookup }, lookupOf);
  return [readsPart('GET /api/status', status), readsPart('GET /api/dids/lookup', lookup)];
}

function readsPart(title: string, findings: ReadonlyMap<string, readonly Finding[]>): Part {
  const ours = findings.get(VAULT);
  const ratio = (name: string) => ratioOf(ours, findings.get(name), (one) => one.cpuMicros);
  const rows = [...findings].map(([name, all]) => ({ name, cells: [...loadCells(all), ratio(name)] }));
  const columns = [...LOAD_COLUMNS, { title: 'vault’s µs ÷ its µs', digits: 2 }];
  const figure = (name: string, bounds: Partial<Figure>): Figure => ({
    label: `${title}: processor ÷ that of ${name}`,
    value: ratio(name),
    digits: 2,
    unit: '×',
    atMost: true,
    ...bounds,
  });
  const figures = [
    figure(HONO_LEAN, { floor: 0.9, headline: title.includes('lookup') }),
    figure(HONO_PACKAGES, { floor: 0.9 }),
    figure(HONO_CORS, { goal: 1.1 }),
  ];
  return { table: { title, columns, rows, notes: loadNotes(findings) }, figures };
}

/** Codes by mail: sending one, and proving the address with it. */
async function benchCodes(vault: Target, inline: Target): Promise<Part> {
  const work = vaultWork(vault, options.ms);
  const inlineWork = vaultWork(inline, options.ms);
  const rival = betterAuthWork(await start('better-auth.ts', CODE), CODE, options.ms);
  const findings = await interleaved(
    [
      [
        { name: SEND, run: work.send },
        { name: CHECK, run: work.check },
      ],
      [
        { name: 'vault, send, inline', run: inlineWork.send },
        { name: 'vault, check, inline', run: inlineWork.check },
      ],
      [
        { name: THEIR_SEND, run: rival.send },
        { name: 'better-auth, sign-in/email-otp', run: rival.signIn },
        { name: 'better-auth, send to a known person', run: rival.sendToKnown },
        { name: THEIR_CHECK, run: rival.verify },
      ],
    ],
    options,
  );
  const rows = [...findings].map(([name, all]) => {
    const ours = findings.get(name.includes('send') ? SEND : CHECK);
    const ratios = [ratioOf(ours, all, (one) => one.perSecond), ratioOf(all, ours, (one) => one.cpuMicros)];
    return { name, cells: [...loadCells(all), ...ratios] };
  });
  const columns = [
    ...LOAD_COLUMNS,
    { title: 'vault’s rate ÷ its rate', digits: 1 },
    { title: 'its µs ÷ vault’s µs', digits: 1 },
  ];
  const figure = (label: string, ours: string, theirs: string, bounds: Partial<Figure>): Figure => ({
    label,
    value: ratioOf(findings.get(ours), findings.get(theirs), (one) => one.perSecond),
    digits: 1,
    unit: '×',
    headline: true,
    ...bounds,
  });
  const figures = [
    figure('codes sent a second ÷ better-auth’s', SEND, THEIR_SEND, { floor: 7.5, goal: 12 }),
    figure('codes checked a second ÷ better-auth’s', CHECK, THEIR_CHECK, { floor: 14, goal: 20 }),
  ];
  return { table: { title: 'Codes by mail, every commit synced', columns, rows, notes: loadNotes(findings) }, figures };
}

async function statusOf(target: Target): Promise<Finding> {
  return mustBeOk(
    await load(target, () => request('GET', '/api/status'), { ms: options.ms, holds: '"chainId":84532' }),
  );
}

async function lookupOf(target: Target): Promise<Finding> {
  return mustBeOk(await load(target, lookupRequest, { ms: options.ms, holds: '"did":"did:key:z' }));
}

function startVault(mode: 'vault' | 'vault-inline'): Promise<Target> {
  return startServer(mode, { DID_REGISTRY_ADDRESS: 'none' }).then(keep);
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
