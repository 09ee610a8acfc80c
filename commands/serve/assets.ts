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
      // What `Bun.build` gives has no `bytes`.
      const bytes = new Uint8Array(await (typeof file === 'string' ? Bun.file(file) : file).arrayBuffer());
      const digest = new Bun.CryptoHasher('sha256').update(bytes).digest('base64');
      return new Response(bytes, { headers: { 'repr-digest': `sha-256=:${digest}:` } });
    },
  };
}
