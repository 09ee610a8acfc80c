// npm run simulate: whole vaults in this process, in a time and on a disk of their own.
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { PLANTS } from '../../support/torture/plants.ts';
import { plantBug } from './plant.ts';

const USAGE = `npm run simulate -- [flags]

Runs whole vaults in this process: time, disk, node, mail and receiver are simulated, and fail. What they acknowledged is
checked after each commit and each answer. A seed draws all of a life, so that it is the same each time.

Flags
  --seed N      the life of this seed alone [a new one]
  --steps N     end a life after so many steps of people and the chain [all, at most 14]
  --lives N     so many lives, one after the other, with the next seed each
  --seconds N   the same for so long [30 without --seed and --lives]
  --plant NAME  with a planted bug of docs/torture.md, until a life violates what it is to violate
  --trace       print all that happens
  --help        this text`;

const NAMES = PLANTS.map(({ name }) => name).join('; ');

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string' },
    lives: { type: 'string' },
    seconds: { type: 'string' },
    plant: { type: 'string' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false, short: 'h' },
  },
});
process.exit(values.help ? help() : await main());

/** A command line that cannot be followed. */
function refuse(words: string): number {
  console.error(`npm run simulate: ${words}`);
  return 2;
}

function help(): number {
  console.log(USAGE);
  return 0;
}

async function main(): Promise<number> {
  for (const name of ['seed', 'steps', 'lives', 'seconds'] as const)
    if (!/^\d{0,10}$/.test(values[name] ?? '')) return refuse(`--${name} is a whole number`);
  const seed = readNumber('seed') ?? Date.now() % 2 ** 31;
  const steps = readNumber('steps');
  const lives = readNumber('lives');
  const seconds = readNumber('seconds') ?? (values.seed === undefined && lives === undefined ? 30 : 0);
  const plant = PLANTS.find(({ name }) => name === values.plant);
  if (values.plant !== undefined && plant === undefined) return refuse(`a plant is one of: ${NAMES}`);
  if (plant) plantBug(plant);
  // Not before: the bug has to be there when the sources are loaded.
  const { simulate } = await import('./simulate.ts');
  const say = values.trace ? (line: string) => print(line) : () => {};
  const end = performance.now() + seconds * 1000;
  for (let life = seed; ; life++) {
    const { violation, counts, digest, lines } = await simulate({ seed: life, steps, say });
    const told = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
    print(`seed ${life}: ${told.join(', ')}; trace ${digest}`);
    // A planted bug violates other things too, and which of them a life meets first is chance.
    if (violation && plant && violation.invariant !== plant.violates)
      print(`violated beside what is looked for: ${violation.invariant}: ${violation.detail}`);
    else if (violation) {
      const again = ['--seed', life, ...(steps === undefined ? [] : ['--steps', steps])].join(' ');
      const planted = plant ? ` --plant '${plant.name}'` : '';
      print([...lines, `again: npm run simulate -- ${again}${planted}`].join('\n'));
      return 1;
    }
    if (life + 1 >= seed + (lives ?? 1) && performance.now() >= end) break;
  }
  print(plant ? `not violated: ${plant.violates}` : 'nothing was violated');
  return 0;
}

/** At once: a pipe has its turn only where this process waits, and it never does. */
function print(text: string): void {
  writeSync(1, `${text}\n`);
}

function readNumber(name: 'seed' | 'steps' | 'lives' | 'seconds'): number | undefined {
  const text = values[name];
  return text === undefined ? undefined : Number(text);
}
