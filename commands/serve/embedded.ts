/** Every served file by its path, as the sources of `assets/` make them now. The build replaces this file by one that names the files inside the program (`scripts/build.ts`). */
export async function findAssets(): Promise<Readonly<Record<string, string | Blob>>> {
  return (await import('../../assets/bundle.ts')).bundleAssets();
}
