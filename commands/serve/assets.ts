import type { Assets } from '../../lib/static-files.ts';
import { findAssets } from './embedded.ts';

/** The served files: embedded in the compiled program, or built from `assets/` at the first request. */
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
