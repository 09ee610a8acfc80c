import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundleAssets } from '../../assets/bundle.ts';

/** Files on disk, and the SHA-256 in base64 of their served content, by the path they are served under. */
export type Assets = Readonly<Record<string, { readonly file: string; readonly sha256: string }>>;

/** Files that are compressed already, or that a start reads. */
const AS_THEY_ARE = /\.(?:png|wasm)$/;

/**
 * The served files as the program keeps them: texts compressed, under names that end in `.zst`, which
 * `commands/serve/assets.ts` unpacks at the first request for one.
 */
export async function packAssets(assets: Assets): Promise<Assets> {
  const packed = Object.entries(assets).map(async ([path, asset]): Promise<[string, Assets[string]]> => {
    const { file } = asset;
    if (AS_THEY_ARE.test(file)) return [path, asset];
    await Bun.write(`${file}.zst`, Bun.zstdCompressSync(await Bun.file(file).bytes(), { level: 19 }));
    return [path, { ...asset, file: `${file}.zst` }];
  });
  return Object.fromEntries(await Promise.all(packed));
}

/** Writes the served files into a folder. */
export async function writeAssets(folder: string): Promise<Assets> {
  const written: Record<string, Assets[string]> = {};
  for (const [path, content] of Object.entries(await bundleAssets())) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await Bun.write(file, content);
    const bytes = await Bun.file(file).bytes();
    written[path] = { file, sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('base64') };
  }
  return written;
}

/** Puts the served files, made in `folder`, into the program: `commands/serve/embedded.ts` then imports them. */
export async function embedAssets(folder: string): Promise<Bun.BunPlugin> {
  const all = Object.entries(await packAssets(await writeAssets(folder)));
  const imports = all.map(([, { file }], i) => `import file${i} from ${JSON.stringify(file)} with { type: 'file' };`);
  const entries = all.map(
    ([path, { sha256 }], i) => `${JSON.stringify(path)}: { content: file${i}, sha256: "${sha256}" }`,
  );
  const contents = `${imports.join('\n')}\nexport const findAssets = async () => ({ ${entries.join(', ')} });`;
  return {
    name: 'embed the served files',
    setup(build) {
      build.onLoad({ filter: /commands[\\/]serve[\\/]embedded\.ts$/ }, () => ({ contents, loader: 'js' }));
    },
  };
}
