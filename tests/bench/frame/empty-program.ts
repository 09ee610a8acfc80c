import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Compiles a `Bun.serve` that answers 200 and does nothing else, filled with bytes that nobody reads until it is as
 * large as `size` to a hundredth, and returns its path. It listens at `PORT`.
 */
export async function buildEmptyProgram(folder: string, size: number): Promise<string> {
  const outfile = join(folder, 'empty');
  const bare = await compile(folder, outfile, 1);
  const built = await compile(folder, outfile, size - bare);
  if (Math.abs(built - size) > size / 100) throw new Error(`${outfile} has ${built} bytes, not ${size}`);
  return outfile;
}

async function compile(folder: string, outfile: string, bytes: number): Promise<number> {
  const entry = join(folder, 'empty.ts');
  await Bun.write(join(folder, 'filling.bin'), new Uint8Array(bytes));
  await Bun.write(entry, SERVER);
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

const SERVER = `import filling from './filling.bin' with { type: 'file' };
Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  development: false,
  fetch: () => new Response(filling.length > 0 ? 'ok' : 'empty'),
});`;
