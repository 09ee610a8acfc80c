import type { Assets } from '../../lib/static-files.ts';
import { type Embedded, findAssets } from './embedded.ts';

/** The served files: embedded in the compiled program, or built from `assets/` at the first request. */
export function openAssets(find: () => Promise<Readonly<Record<string, Embedded>>> = findAssets): Assets {
  let found: ReturnType<typeof find> | undefined;
  return {
    async fetch(request) {
      found ??= find();
      const file = (await found)[new URL(request.url).pathname];
      if (file === undefined) return new Response(null, { status: 404 });
      const { content, sha256 } = file;
      if (request.method === 'HEAD' && sha256 !== undefined) return respond(null, sha256);
      const bytes = await bytesOf(content);
      return respond(bytes, sha256 ?? new Bun.CryptoHasher('sha256').update(bytes).digest('base64'));
    },
  };
}

function respond(bytes: Uint8Array<ArrayBuffer> | null, sha256: string): Response {
  return new Response(bytes, { headers: { 'repr-digest': `sha-256=:${sha256}:` } });
}

/** The program keeps texts compressed (`scripts/build/embed-assets.ts`). */
async function bytesOf(content: string | Blob): Promise<Uint8Array<ArrayBuffer>> {
  // Artifacts of `Bun.build` have no `bytes`.
  const bytes = new Uint8Array(await (typeof content === 'string' ? Bun.file(content) : content).arrayBuffer());
  const isPacked = typeof content === 'string' && content.endsWith('.zst');
  return isPacked ? new Uint8Array(await Bun.zstdDecompress(bytes)) : bytes;
}
