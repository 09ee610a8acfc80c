import { basename, join } from 'node:path';

const ROOT = join(import.meta.dir, '..');

/** Puts what few starts need into the program as files in `folder`, which are read when they are needed. */
export async function keptApart(folder: string): Promise<readonly Bun.BunPlugin[]> {
  return [
    ...(await Promise.all(TABLES.map((table) => keepAsFile(table, folder)))),
    ...(await Promise.all(APART.map((one) => keepApart(one, folder)))),
  ];
}

/**
 * Tables that few starts look into: the world's numbering plans and the creation code of the contracts. In the source
 * each would be in the program twice, as text and as bytecode.
 */
const TABLES = [
  ['libphonenumber-js/metadata.min.json.js', 'libphonenumber-js/min/metadata'],
  ['contracts/creation-code.json', '../contracts/creation-code.json'],
] as const;

/** Puts a table into the program as a compressed file, which is read and parsed at the first look into it. */
async function keepAsFile([path, name]: (typeof TABLES)[number], folder: string): Promise<Bun.BunPlugin> {
  const { default: table } = await import(name);
  const file = join(folder, `${basename(path, '.js')}.zst`);
  await Bun.write(file, Bun.zstdCompressSync(JSON.stringify(table), { level: 19 }));
  const getters = Object.keys(table).map((key) => `get ${key}() { return open().${key}; }`);
  const contents = `import { readFileSync } from 'node:fs';
import file from ${JSON.stringify(file)} with { type: 'file' };
let table;
const open = () => (table ??= JSON.parse(Bun.zstdDecompressSync(readFileSync(file)).toString()));
export default { ${getters.join(', ')} };`;
  const filter = new RegExp(`${path.replaceAll('.', '\\.').replaceAll('/', '[\\\\/]')}$`);
  return {
    name: `keep ${path} as a file`,
    setup(build) {
      build.onLoad({ filter }, () => ({ contents, loader: 'js' }));
    },
  };
}

/**
 * Large modules of which few starts need one: as bytecode each is five times its size
 * (`docs/decisions/0010-size-of-the-program.md`). One that is `called` is read at the first call of that function, the
 * only one there is.
 */
const APART = [
  { name: 'nodemailer' },
  { name: 'libphonenumber-js/core', called: 'parsePhoneNumberFromString' },
] as const;

/** Puts a module into the program as a file of source text, which is read when the module is imported or called. */
async function keepApart(module: (typeof APART)[number], folder: string): Promise<Bun.BunPlugin> {
  const { name } = module;
  const { outputs } = await Bun.build({
    entrypoints: [Bun.resolveSync(name, ROOT)],
    target: 'bun',
    format: 'esm',
    minify: true,
    allowUnresolved: [],
  });
  const file = join(folder, `${name.replaceAll('/', '-')}.js`);
  await Bun.write(file, outputs[0] ?? '');
  const names = Object.keys(await import(file)).filter((key) => key !== 'default');
  const contents = `import file from ${JSON.stringify(file)} with { type: 'file' };
${'called' in module ? callOf(module.called) : `const { ${names.join(', ')} } = await import(file);\nexport { ${names.join(', ')} };`}`;
  return {
    name: `keep ${name} apart`,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: 'apart' }));
      build.onLoad({ filter: new RegExp(`^${name}$`), namespace: 'apart' }, () => ({ contents, loader: 'js' }));
    },
  };
}

function callOf(name: string): string {
  return `let module;
export const ${name} = (...given) => (module ??= import.meta.require(file)).${name}(...given);`;
}
