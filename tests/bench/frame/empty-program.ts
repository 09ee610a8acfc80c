import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/** What fills an empty program up to a size: bytes that nobody reads, or functions that are loaded and never called. */
export type Filling = 'bytes' | 'functions';

/**
 * Compiles a `Bun.serve` that answers 200 and does nothing else, as large as `size` to a hundredth, and returns its
 * path. It listens at `PORT`.
 */
export async function buildEmptyProgram(folder: string, filling: Filling, size: number): Promise<string> {
  const outfile = join(folder, `empty-${filling}`);
  const bare = await compile(folder, outfile, filling, 1);
  const sample = await compile(folder, outfile, filling, SAMPLE[filling]);
  const each = (sample - bare) / SAMPLE[filling];
  const built = await compile(folder, outfile, filling, Math.round((size - bare) / each));
  if (Math.abs(built - size) > size / 100) throw new Error(`${outfile} has ${built} bytes, not ${size}`);
  return outfile;
}

/** How much is added to see what each adds: bytes, and functions. */
const SAMPLE = { bytes: 1_000_000, functions: 2_000 } as const;

async function compile(folder: string, outfile: string, filling: Filling, count: number): Promise<number> {
  const entry = join(folder, `empty-${filling}.ts`);
  if (filling === 'bytes') await Bun.write(join(folder, 'filling.bin'), new Uint8Array(count));
  await Bun.write(entry, `${filling === 'bytes' ? BYTES : functions(count)}\n${SERVER}`);
  await Bun.build({
    entrypoints: [entry],
    target: 'bun',
    format: 'esm',
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
  return (await stat(outfile)).size;
}

const BYTES = `import filling from './filling.bin' with { type: 'file' };`;

/** Each as long as the vault's are on average. */
function functions(count: number): string {
  const names = Array.from({ length: count }, (_, i) => `call${i}`);
  const bodies = names.map(
    (name, i) =>
      `function ${name}(list, key) { const found = list.filter((one) => one.${name} === key); ` +
      `if (found.length > ${i}) throw new Error('${name}'); return found.map(({ id }) => id + ${i}); }`,
  );
  return `${bodies.join('\n')}\nconst filling = [${names.join(', ')}];`;
}

const SERVER = `Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  development: false,
  fetch: () => new Response(filling.length > 0 ? 'ok' : 'empty'),
});`;
