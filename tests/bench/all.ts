// npm run bench:all [-- --save --only NAME --restart …]: every part, one after the other. A run that was interrupted goes
// on with the parts that are missing; --restart begins again. Other options go to the parts.
import { join } from 'node:path';
import { measureAll } from './frame/measure-all.ts';
import { PARTS } from './frame/parts.ts';

const root = join(import.meta.dir, '../..');
const words = process.argv.slice(2);
const failed = await measureAll({
  parts: PARTS,
  root,
  state: join(root, 'dist/bench-all.json'),
  words,
  say: console.log,
});
if (words.includes('--save')) {
  const { exitCode } = Bun.spawnSync([process.execPath, 'scripts/benchmarks.ts'], { cwd: root, stderr: 'inherit' });
  if (exitCode !== 0) failed.push('docs/benchmarks.md');
}
if (failed.length > 0) console.error(`failed: ${failed.join(', ')}. The same command measures them again.`);
process.exit(failed.length > 0 ? 1 : 0);
