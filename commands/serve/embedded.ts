/**
 * Every served file by path, built from `assets/` now. The build replaces this file with one that names the files
 * inside the program (`scripts/build.ts`).
 */
export async function findAssets(): Promise<Readonly<Record<string, string | Blob>>> {
  return (await import('../../assets/bundle.ts')).bundleAssets();
}
