// npm run bench [-- --save --rounds N --ms N]: requests per second and processor time of the main routes, beside a bare
// `Bun.serve` measured in the same rounds.
import { load, request } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { leaveServerCore } from './frame/place.ts';
import { LOAD_COLUMNS, loadCells, loadNotes, publish } from './frame/report.ts';
import { each, interleaved, ratioOf } from './frame/rounds.ts';
import { startServer } from './frame/target.ts';
import { mustBeOk, register, vaultWork } from './vault-work.ts';

const options = benchOptions();
leaveServerCore();

const bare = await startServer('bare');
// Handles without a registry ask nobody; with one, each request asks the node.
const vault = await startServer('vault', { DID_REGISTRY_ADDRESS: 'none' });
const node = await startServer('node');
const asking = await startServer('vault', { RPC_URL: `http://127.0.0.1:${node.port}`, FOLLOWER: 'false' });
await register(vault);
const work = vaultWork(vault, options.ms);

const BARE = 'bare Bun.serve';
const LOOKUP = 'GET /api/dids/lookup';
const SEND = 'POST /api/verify/send';
const CHECK = 'POST /api/verify/check';
const findings = await interleaved(
  [
    {
      name: BARE,
      run: async () => mustBeOk(await load(bare, () => request('GET', '/api/status'), { ms: options.ms })),
    },
    { name: 'GET /api/status', run: work.status },
    { name: LOOKUP, run: work.lookup },
    [
      { name: SEND, run: work.send },
      { name: CHECK, run: work.check },
    ],
    { name: 'POST /api/sessions', run: work.session },
    { name: '… an alias asked for', run: vaultWork(asking, options.ms).session },
  ],
  options,
);
const beside = findings.get(BARE);
const rows = [...findings].map(([name, all]) => ({
  name,
  cells: [...loadCells(all), ratioOf(all, beside, (one) => one.cpuMicros)],
}));
const columns = [...LOAD_COLUMNS, { title: 'of bare', digits: 2 }];
const notes = loadNotes(findings);
const figures = [LOOKUP, SEND, CHECK].map((name) => ({
  label: `${name}, on one core`,
  value: each(findings.get(name), (one) => one.perSecond),
  unit: ' a second',
  headline: true,
}));
await publish({ name: 'http', tables: [{ title: '64 connections', columns, rows, notes }], figures }, options);
for (const target of [bare, vault, asking, node]) await target.stop();
