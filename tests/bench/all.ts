// npm run bench:all [-- --save --only NAME --restart …]: every part, one after the other, each in a process of its own.
// A run that was interrupted goes on with the parts that are missing; --restart begins again. Other options go to the
// parts.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PARTS, type Part } from './frame/parts.ts';

const ROOT = join(import.meta.dir, '../..');
/** The parts that a run with --save has measured, by when. Ignored by git. */
const STATE = join(ROOT, 'dist/bench-all.json');

const words = process.argv.slice(2);
const only = words.includes('--only') ? words[words.indexOf('--only') + 1] : undefined;
const passed = words.filter((word, i) => word !== '--restart' && word !== '--only' && words[i - 1] !== '--only');
const isSaved = words.includes('--save');
if (words.includes('--restart')) rmSync(STATE, { force: true });

const chosen = PARTS.filter(({ name }) => only === undefined || name === only);
if (chosen.length === 0) throw new Error(`no part ${only}: there are ${PARTS.map(({ name }) => name).join(', ')}`);
const done: Record<string, string> = isSaved && existsSync(STATE) ? await Bun.file(STATE).json() : {};
const failed: string[] = [];
for (const [i, part] of chosen.entries()) {
  const head = `[${i + 1}/${chosen.length}] ${part.name}`;
  if (done[part.name] !== undefined) {
    console.log(`${head}: measured ${done[part.name]}; --restart measures it again`);
    continue;
  }
  console.log(`\n${head}: about ${part.minutes} min, ${new Date().toISOString().slice(11, 19)}`);
  if (!(await measure(part))) failed.push(part.name);
  else if (isSaved) {
    done[part.name] = new Date().toISOString();
    mkdirSync(dirname(STATE), { recursive: true });
    await Bun.write(STATE, JSON.stringify(done));
  }
}
if (isSaved) await run([process.execPath, 'scripts/benchmarks.ts']);
if (failed.length > 0) console.error(`failed: ${failed.join(', ')}. The same command measures them again.`);
else if (only === undefined) rmSync(STATE, { force: true });
process.exit(failed.length > 0 ? 1 : 0);

/** What earlier parts wrote reaches the disk first, so that nobody pays for another's writes. */
async function measure({ script, args = [] }: Part): Promise<boolean> {
  await run(['sync']);
  return run([process.execPath, script, ...args, ...passed]);
}

async function run(command: string[]): Promise<boolean> {
  const child = Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  return (await child.exited) === 0;
}
