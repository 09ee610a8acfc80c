import type { Assets } from '../lib/files.ts';
import { EMBEDDED } from './embedded.ts';

/** The served files: those inside the compiled program, or what the sources of `assets/` make now. */
export function openAssets(): Assets {
  const find = EMBEDDED ? async (path: string) => EMBEDDED?.[path] : fromSources();
  return {
    async fetch(request) {
      const found = await find(new URL(request.url).pathname);
      if (found === undefined) return new Response(null, { status: 404 });
      return new Response(typeof found === 'string' ? Bun.file(found) : found);
    },
  };
}

/** Pages are bundled at the first request for one, and once. */
function fromSources() {
  let made: Promise<Readonly<Record<string, string | Blob>>> | undefined;
  return async (path: string): Promise<string | Blob | undefined> => {
    // In the compiled program this is dead code and the bundler stays out of it.
    if (process.env['NODE_ENV'] !== 'production')
      made ??= import('../assets/bundle.ts').then((all) => all.bundleAssets());
    return (await made)?.[path];
  };
}
