// npm run simulate:shards [-- --registrations 100000000 --seed S --shards 16 --plant NAME]: claims over several databases,
// each of which has some of the identifiers, under faults. Needs about 20 bytes of memory for each registration. Ends
// with 1 if a promise was broken, or if a fault never happened.
import { parseArgs } from 'node:util';
import { PLANTS, type Plant } from './options.ts';
import { simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    registrations: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    shards: { type: 'string', default: '16' },
    plant: { type: 'string' },
  },
});
const { plant } = values;
if (plant !== undefined && !(plant in PLANTS)) throw new Error(`--plant is one of ${Object.keys(PLANTS).join(', ')}`);
const numbers = [values.registrations, values.seed, values.shards].map(Number);
if (numbers.some((number) => !(number >= 0))) throw new Error('--registrations, --seed and --shards want numbers');
const [registrations = 0, seed = 0, shards = 0] = numbers;

const count = (number: number) => number.toLocaleString('en');
console.log(`${count(registrations)} registrations over ${shards} shards, seed ${seed}, plant ${plant ?? 'none'}`);
const start = performance.now();
const progress = (written: number) => process.stderr.isTTY && process.stderr.write(`\r${count(written)} written `);
const { violations, counts, faults } = simulate({ registrations, seed, shards, plant: plant as Plant, progress });
for (const [name, number] of [...Object.entries(counts), ...Object.entries(faults)])
  console.log(`${count(number).padStart(15)}  ${name}`);
const seconds = (performance.now() - start) / 1000;
console.log(`${seconds.toFixed(0)} s, at most ${(process.resourceUsage().maxRSS / 1e6).toFixed(1)} GB of memory`);
const missing = Object.entries(faults).filter(([, number]) => number === 0);
for (const [name] of missing) console.log(`NEVER HAPPENED: ${name}`);
for (const { kind, count: times, first } of violations)
  console.log(`BROKEN ${count(times)} times, first ${first}: ${kind}`);
if (violations.length === 0) console.log('0 duplicates, 0 lost, no budget overspent');
process.exit(violations.length + missing.length > 0 ? 1 : 0);
