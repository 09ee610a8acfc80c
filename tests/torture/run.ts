// bun run torture [--minutes N] [--seed S] [--world file|two|server] [--only FAULTS]: kills, stops, starves and lies to
// vaults, and holds what they acknowledged against what is there afterwards. --plant NAME (or all): looks for a bug that
// is put in on purpose.
import { parseArgs } from 'node:util';
import { buildBinary } from '../support/binary.ts';
import { PLANTS } from '../support/torture/plants.ts';
import { hunt } from './planting.ts';
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
    plant: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const worlds = values.world === undefined ? WORLDS : [values.world as WorldName];
if (!(minutes > 0) || !Number.isInteger(seed) || worlds.some((one) => !WORLDS.includes(one)))
  throw new Error('usage: bun run torture [--minutes N] [--seed S] [--world file|two|server] [--only FAULT]');

const began = performance.now();
const say = (line: string) => console.error(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} ${line}`);
if (values.plant !== undefined) process.exit(await huntAll(values.plant, seed));
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

/** Looks for planted bugs; 0 if each was found. */
async function huntAll(name: string, seed: number): Promise<number> {
  const plants = PLANTS.filter((one) => name === 'all' || one.name === name);
  if (plants.length === 0) throw new Error(`a plant is one of: ${PLANTS.map((one) => one.name).join('; ')}; or all`);
  let missed = 0;
  for (const plant of plants) {
    const found = await hunt(plant, seed, say);
    const first = found?.violations.find(({ invariant }) => invariant === plant.violates);
    if (!first) missed++;
    console.log(
      first
        ? `caught: ${plant.name} (${plant.world}, seed ${found?.seed}): ${first.invariant}: ${first.detail}`
        : `MISSED: ${plant.name} (${plant.world}, from seed ${seed})`,
    );
  }
  return missed === 0 ? 0 : 1;
}
