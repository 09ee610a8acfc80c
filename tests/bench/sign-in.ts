// npm run bench:sign-in [-- --rounds N --ms N]: sign-ins at apps by OpenID Connect with RS256: codes, exchanges and
// whole sign-ins of a vault that is a process of its own, reads beside exchanges, and the same of better-auth's provider
// in the same rounds. Apps, passkeys and the chain are on the load's cores.
import { join } from 'node:path';
import { startRelayChain } from '../support/candidates.ts';
import type { Finding } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { leaveServerCore } from './frame/place.ts';
import { type Figure, LOAD_COLUMNS, loadCells, loadNotes, publish, type Table } from './frame/report.ts';
import { each, interleaved, ratioOf } from './frame/rounds.ts';
import { benchFolder, startTarget } from './frame/target.ts';
import { betterAuthProvider } from './rivals/better-auth-sign-ins.ts';
import { installRivals } from './rivals/install.ts';
import { dependencies } from './rivals/package.json';
import { type Provider, signInWork } from './sign-in-work.ts';
import { startVaultProvider } from './vault-sign-ins.ts';

/** The floor of exchanges: what the reads run beside. */
const EXCHANGES_PER_SECOND = 300;
const READS_PER_SECOND = 1_000;
const VAULT = 'vault';
const RIVAL = 'better-auth';
const KINDS = ['codes', 'exchanges', 'whole sign-ins'] as const;
type Findings = ReadonlyMap<string, readonly Finding[]>;

const options = benchOptions({ ms: 3_000 });
installRivals();
leaveServerCore();
const folder = benchFolder();
const chain = await startRelayChain();
const providers: Provider[] = [];
try {
  const vault = await startVaultProvider(chain, folder.path);
  providers.push(vault);
  const script = join(import.meta.dir, 'rivals/better-auth-openid.ts');
  const command = [process.execPath, script, join(folder.path, 'better-auth.db')];
  const rival = await betterAuthProvider(await startTarget(command, { env: { NODE_ENV: 'production' } }));
  providers.push(rival);
  const works = [signInWork(vault, options.ms), signInWork(rival, options.ms)];
  for (const work of works) await work.check();
  const findings = await interleaved(
    works.map((work, i) => {
      const name = i === 0 ? VAULT : RIVAL;
      return [
        { name: `${name}, codes`, run: work.codes },
        { name: `${name}, exchanges`, run: work.exchanges },
        { name: `${name}, whole sign-ins`, run: work.whole },
        { name: `${name}, reads`, run: () => work.readsBeside(EXCHANGES_PER_SECOND, READS_PER_SECOND) },
      ];
    }),
    options,
  );
  const { 'better-auth': betterAuth, '@better-auth/oauth-provider': provider } = dependencies;
  const versions = { 'better-auth': betterAuth, '@better-auth/oauth-provider': provider };
  const tables = [signInTable(findings), readTable(findings)];
  await publish({ name: 'sign-in', tables, figures: figuresOf(findings), versions }, options);
} finally {
  for (const { target } of providers) await target.stop();
  await chain.stop();
  folder.remove();
}

function signInTable(findings: Findings): Table {
  const rows = KINDS.flatMap((kind) =>
    [VAULT, RIVAL].map((who) => {
      const [ours, all] = [findings.get(`${VAULT}, ${kind}`), findings.get(`${who}, ${kind}`)];
      const perCore = each(all, ({ cpuMicros }) => 1e6 / cpuMicros);
      const ratios = [ratioOf(ours, all, (one) => one.perSecond), ratioOf(all, ours, (one) => one.cpuMicros)];
      return { name: `${who}, ${kind}`, cells: [...loadCells(all), perCore, ...ratios] };
    }),
  );
  const columns = [
    ...LOAD_COLUMNS,
    { title: 'a second and core' },
    { title: 'vault’s rate ÷ its rate', digits: 1 },
    { title: 'its µs ÷ vault’s µs', digits: 1 },
  ];
  const about = 'A code of the vault is a passkey’s touch that the chain is asked about; better-auth keeps a session.';
  return { title: 'Sign-ins, RS256', columns, rows, notes: [about, ...loadNotes(findings)] };
}

function readTable(findings: Findings): Table {
  const columns = ['p50 ms', 'p99 ms', 'longest ms'].map((title) => ({ title, digits: 2 }));
  const named = { [VAULT]: 'vault, GET /api/dids/lookup', [RIVAL]: 'better-auth, GET /api/auth/jwks' };
  const rows = Object.entries(named).map(([who, name]) => {
    const all = findings.get(`${who}, reads`);
    return {
      name,
      cells: [each(all, (one) => one.p50Ms), each(all, (one) => one.p99Ms), each(all, (one) => one.maxMs)],
    };
  });
  return { title: `${READS_PER_SECOND} reads beside ${EXCHANGES_PER_SECOND} exchanges a second`, columns, rows };
}

function figuresOf(findings: Findings): Figure[] {
  const of = (who: string, kind: string) => findings.get(`${who}, ${kind}`);
  const ratio = (kind: string) => ratioOf(of(VAULT, kind), of(RIVAL, kind), (one) => one.perSecond);
  return [
    {
      label: 'sign-in: codes exchanged a second on one core',
      value: each(of(VAULT, 'exchanges'), (one) => one.perSecond),
      floor: EXCHANGES_PER_SECOND,
      goal: 1_000,
    },
    {
      label: `sign-in: p99 of reads beside ${EXCHANGES_PER_SECOND} exchanges a second`,
      value: each(of(VAULT, 'reads'), (one) => one.p99Ms),
      digits: 2,
      unit: ' ms',
      floor: 5,
      atMost: true,
    },
    ...KINDS.map((kind) => ({ label: `${kind} a second ÷ better-auth’s`, value: ratio(kind), digits: 1, unit: '×' })),
  ];
}
