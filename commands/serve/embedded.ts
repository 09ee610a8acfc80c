/** A served file: its content, or where it is inside the program, and its SHA-256 in base64 where the build says it. */
export interface Embedded {
  readonly content: string | Blob;
  readonly sha256?: string;
}

/**
 * Every served file by path, built from `assets/` now. The build replaces this file with one that names the files
 * inside the program (`scripts/build/embed-assets.ts`).
 */
export async function findAssets(): Promise<Readonly<Record<string, Embedded>>> {
  const files = await (await import('../../assets/bundle.ts')).bundleAssets();
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [path, { content }]));
}
