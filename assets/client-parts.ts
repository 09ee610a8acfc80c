import { join } from 'node:path';

const CLIENT = join(import.meta.dir, '../client');

/** Scripts that `vault/client` loads on demand: the file in `client/`, and the name of the served file. */
const APART: Readonly<Record<string, string>> = {
  'vault/sign-in.ts': 'client-sign-in.js',
  'vault/credential.ts': 'client-credential.js',
  'vault/authorization.ts': 'client-authorization.js',
  'vault/events.ts': 'client-events.js',
  'vault/operation.ts': 'client-operation.js',
  'approvals.ts': 'approvals.js',
  'payments.ts': 'payments.js',
};

/** The modules of the client for people's pages, and the files that they become. */
export const CLIENT_PARTS: Readonly<Record<string, string>> = { 'vault/index.ts': 'client.js', ...APART };

/** Bundles one of them for browsers. Imports on demand stay files beside it. */
export async function bundleClientPart(part: string, minify: boolean): Promise<Blob> {
  const { outputs } = await Bun.build({
    entrypoints: [join(CLIENT, part)],
    target: 'browser',
    format: 'esm',
    minify,
    plugins: [loadedApart('./', part)],
  });
  const [output] = outputs;
  if (!output) throw new Error(`${part} makes nothing`);
  return output;
}

/** Leaves the client's imports on demand as files at `base`; `part` is the one that is bundled. */
export function loadedApart(base: './' | '/', part?: string): Bun.BunPlugin {
  return {
    name: 'loaded apart',
    setup(build) {
      for (const [file, path] of Object.entries(APART)) {
        const filter = new RegExp(`(?:^|/)${file.replace(/^.*\//, '').replace('.', '\\.')}$`);
        build.onResolve({ filter }, ({ kind }) =>
          kind === 'dynamic-import' && part !== file ? { path: `${base}${path}`, external: true } : undefined,
        );
      }
    },
  };
}
