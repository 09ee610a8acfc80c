// `vault/node`: what a host on Node, Deno or Bun takes from the installed package beside `vault` itself.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Assets } from '../lib/static-files.ts';

/**
 * The files of the vault's pages, of its client and of the enclave, for `assets` of `createVault`. Reads them from the
 * package's folder, which is beside this module. Throws where it has none, as in a bundle.
 */
export function packageAssets(folder: URL = new URL('assets/', import.meta.url)): Assets {
  if (!existsSync(new URL('openapi.json', folder)))
    throw new Error(`packageAssets: no files of the vault in ${folder}. Leave vault/node out of your bundle.`);
  return {
    async fetch({ url }) {
      const bytes = await readFile(new URL(`.${new URL(url).pathname}`, folder)).catch(absent);
      return bytes ? new Response(new Uint8Array(bytes)) : new Response(null, { status: 404 });
    },
  };
}

/** A path that leads nowhere is a 404; a file that is there and cannot be read is a fault. */
function absent(error: unknown): undefined {
  if (/^(?:EACCES|EMFILE|ENFILE|EIO)$/.test((error as { readonly code?: string }).code ?? '')) throw error;
}
