// bun run torture [--minutes N] [--seed S] [--world file|two|server] [--only FAULT]: kills, stops, starves and lies to
// vaults, and holds what they acknowledged against what is there afterwards.
import { parseArgs } from 'node:util';
import { buildBinary } from '../support/binary.ts';
import { isGood, reportOf, worldReport } from './report.ts';
import { type TortureResult, torture } from './torture.ts';
import { WORLDS, type WorldName } from './worlds.ts';

/** So long things go wrong in one world: then it is settled and compared, and another one follows. */
const ROUND_MS = 120_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    world: { type: 'string' },
    only: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const worlds = values.world === undefined ? WORLDS : [values.world as WorldName];
if (!(minutes > 0) || !Number.isInteger(seed) || worlds.some((one) => !WORLDS.includes(one)))
  throw new Error('usage: bun run torture [--minutes N] [--seed S] [--world file|two|server] [--only FAULT]');

const began = performance.now();
const say = (line: string) => console.error(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} ${line}`);
const binary = await buildBinary();
const results: TortureResult[] = [];
try {
  const rounds = Math.max(worlds.length, Math.round((minutes * 60_000) / ROUND_MS / worlds.length) * worlds.length);
  const ms = (minutes * 60_000) / rounds;
  for (let round = 0; round < rounds; round++) {
    const world = worlds[round % worlds.length] as WorldName;
    const only = values.only === undefined ? {} : { only: values.only.split(',') };
    const result = await torture({ world, seed: seed + round, ms, binary: binary.path, say, ...only });
    results.push(result);
    console.log(worldReport(result));
  }
} finally {
  binary.remove();
}
console.log(reportOf(results, { minutes, seed }));
process.exit(results.every(isGood) ? 0 : 1);
