// npm run bench [-- --save --rounds N --ms N]: requests per second and processor time of the main routes, beside a bare
// `Bun.serve` measured in the same rounds.
import { load, request } from './frame/load.ts';
import { benchOptions } from './frame/options.ts';
import { leaveServerCore } from './frame/place.ts';
import { LOAD_COLUMNS, loadCells, loadNotes, publish } from './frame/report.ts';
import { interleaved, ratioOf } from './frame/rounds.ts';
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
const findings = await interleaved(
  [
    {
      name: BARE,
      run: async () => mustBeOk(await load(bare, () => request('GET', '/api/status'), { ms: options.ms })),
    },
    { name: 'GET /api/status', run: work.status },
    { name: 'GET /api/dids/lookup', run: work.lookup },
    [
      { name: 'POST /api/verify/send', run: work.send },
      { name: 'POST /api/verify/check', run: work.check },
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
await publish({ name: 'http', tables: [{ title: '64 connections', columns, rows, notes }] }, options);
for (const target of [bare, vault, asking, node]) await target.stop();
