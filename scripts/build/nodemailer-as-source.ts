import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

/**
 * Puts nodemailer into the program as a file of source text, which is read when it is imported: only SMTP needs it, and
 * as bytecode it is five times its size (`docs/decisions/0010-size-of-the-program.md`).
 */
export async function nodemailerAsSource(folder: string): Promise<Bun.BunPlugin> {
  const { outputs } = await Bun.build({
    entrypoints: [Bun.resolveSync('nodemailer', ROOT)],
    target: 'bun',
    format: 'esm',
    minify: true,
    allowUnresolved: [],
  });
  const file = join(folder, 'nodemailer.js');
  await Bun.write(file, outputs[0] ?? '');
  const names = Object.keys(await import(file)).filter((key) => key !== 'default');
  const contents = `import file from ${JSON.stringify(file)} with { type: 'file' };
const { ${names.join(', ')} } = await import(file);
export { ${names.join(', ')} };`;
  return {
    name: 'keep nodemailer as source',
    setup(build) {
      build.onResolve({ filter: /^nodemailer$/ }, ({ path }) => ({ path, namespace: 'source' }));
      build.onLoad({ filter: /^nodemailer$/, namespace: 'source' }, () => ({ contents, loader: 'js' }));
    },
  };
}
