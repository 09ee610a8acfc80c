// npm run soak [-- --minutes 30 --streams 5000 --idle 10000 --rate 200 --seed S --program dist/vault --out FOLDER]: a
// mixed load with churn beside open streams and idle connections; memory, descriptors and times as a plot (soak.svg) and
// as numbers (soak.json), in dist/ unless --out names another folder. Needs a descriptor for each connection here and one
// in the vault: raise `ulimit -n` above their sum. Ends with 1 if a curve is not flat, or if an answer was not 200.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../support/databases.ts';
import { plot } from './plot.ts';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    streams: { type: 'string', default: '5000' },
    idle: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    program: { type: 'string' },
    out: { type: 'string', default: 'dist' },
  },
});
const [minutes = 0, streams = 0, idle = 0, perSecond = 0, seed = 0] = [
  values.minutes,
  values.streams,
  values.idle,
  values.rate,
  values.seed,
].map(Number);
if (!(minutes > 0 && streams > 0 && idle > 0 && perSecond > 0 && seed >= 0))
  throw new Error('--minutes, --streams, --idle, --rate and --seed want numbers above 0');
const limit = Number(Bun.spawnSync(['sh', '-c', 'ulimit -n']).stdout.toString());
if (limit < streams + idle + 1_000)
  throw new Error(`this needs ${streams + idle + 1_000} descriptors, and ulimit -n is ${limit}`);

const SAMPLES_MAX = 360;
const SAMPLE_SECONDS_MIN = 2;
const folder = temporaryFolder();
const title = `${minutes} min, ${perSecond} requests/s, ${streams} streams, ${idle} idle connections, seed ${seed}`;
console.log(title);
const found = await soak({
  folder: folder.path,
  minutes,
  streams,
  idle,
  perSecond,
  seed,
  program: values.program === undefined ? undefined : resolve(values.program),
  samples: Math.max(3, Math.min(SAMPLES_MAX, Math.floor((minutes * 60) / SAMPLE_SECONDS_MIN))),
  say: (one) =>
    console.log(
      `${one.minute.toFixed(2).padStart(6)} min  ${one.residentMb.toFixed(0).padStart(5)} MB  ${one.descriptors} descriptors  ` +
        `${one.perSecond.toFixed(0)}/s  p50 ${one.p50Ms.toFixed(1)}  p99 ${one.p99Ms.toFixed(1)} ms  own ${one.ownStallMs.toFixed(0)} ms  ` +
        `${one.streams} streams  ${one.idle} idle  ${(one.processor * 100).toFixed(0)} % of a core`,
    ),
}).finally(folder.remove);
mkdirSync(values.out, { recursive: true });
await Bun.write(join(values.out, 'soak.svg'), plot(title, found.samples));
await Bun.write(join(values.out, 'soak.json'), `${JSON.stringify({ title, ...found }, undefined, 1)}\n`);

for (const [name, count] of Object.entries(found.answers).sort()) console.log(`${String(count).padStart(9)}  ${name}`);
const { reopened, events, descriptors, exitCode, errors, verdicts } = found;
console.log(`${events} events; opened again: ${reopened.streams} streams, ${reopened.idle} idle connections`);
console.log(`descriptors before the load ${descriptors[0]}, after it ${descriptors[1]}; exit code ${exitCode}`);
for (const { name, before, after, ratio, atMost, isFlat } of verdicts)
  console.log(
    `${isFlat ? 'flat' : 'NOT FLAT'}: ${name}: ${before.toFixed(1)} → ${after.toFixed(1)}, ${ratio.toFixed(2)} (at most ${atMost})`,
  );
for (const line of errors) console.log(`ERROR ${line}`);
const wrong = Object.keys(found.answers).filter((name) => !name.endsWith(' 200'));
const isGood = wrong.length === 0 && errors.length === 0 && exitCode === 0 && verdicts.every(({ isFlat }) => isFlat);
console.log(`${join(values.out, 'soak.svg')} has the plot. ${isGood ? 'All is well.' : 'NOT WELL.'}`);
process.exit(isGood ? 0 : 1);
