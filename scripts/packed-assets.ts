/** Files on disk, and the SHA-256 in base64 of what is served, by the path they are served under. */
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
