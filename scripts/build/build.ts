// npm run build [-- --target=TARGET]: the one-file program dist/vault, and the package that others embed, with the
// files it serves.
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPackage } from './package.ts';
import { buildProgram } from './program.ts';
import { programName, readTarget, type Target, USAGE } from './targets.ts';

const ROOT = join(import.meta.dir, '../..');

async function main(words: readonly string[]): Promise<void> {
  if (words.includes('--help')) return console.log(USAGE);
  let target: Target | undefined;
  try {
    target = readTarget(words);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
  const dist = join(ROOT, 'dist');
  await mkdir(dist, { recursive: true });
  const name = programName(target);
  await buildProgram(join(dist, name), { target });
  if (target === undefined) await buildPackage(dist);
  for (const file of target === undefined ? [name, 'index.js'] : [name]) {
    const { size } = await stat(join(dist, file));
    console.log(`dist/${file}  ${(size / 1e6).toFixed(2)} MB`);
  }
}

await main(process.argv.slice(2));
