import type { Assets } from '../../lib/static-files.ts';
import { findAssets } from './embedded.ts';

/** The served files: those inside the compiled program, or what the sources of `assets/` make at the first request for one. */
export function openAssets(): Assets {
  let found: ReturnType<typeof findAssets> | undefined;
  return {
    async fetch(request) {
      found ??= findAssets();
      const file = (await found)[new URL(request.url).pathname];
      if (file === undefined) return new Response(null, { status: 404 });
      return new Response(typeof file === 'string' ? Bun.file(file) : file);
    },
  };
}
