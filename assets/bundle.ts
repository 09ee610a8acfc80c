import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundleClientPart, CLIENT_PARTS, loadedApart } from './client-parts.ts';
import { pageStyle, smallHtml } from './small-page.ts';

/** Pages and scripts that are bundled, their paths without the ending, each from `assets/`. */
const SCRIPTS: readonly string[] = [
  'account/account',
  'console/main',
  'pass/pass',
  'pay/confirm',
  'pay/sw',
  'register/register',
];

/** Scripts that a page imports when it needs them. */
const MODULES: readonly string[] = ['account/qr', 'pay/setup'];

/** Files that are served as they lie in `assets/`. */
const FILES: readonly RegExp[] = [
  /^enclave\.wasm$/,
  /^icons\/.+\.(?:png|svg)$/,
  /^words\/[\w-]+\/\w+\.json$/,
  /^(?:account|design|pass|pay|console|register)\/.+\.(?:html|css|json)$/,
];

/**
 * Makes every served file, by its path such as `/enclave.wasm`: scripts bundled and minified, the rest as it is. Throws
 * what the bundler says.
 */
export async function bundleAssets(): Promise<Readonly<Record<string, Blob>>> {
  const made: Record<string, Blob> = {};
  for (const name of readdirSync(import.meta.dir, { recursive: true, encoding: 'utf8' })) {
    if (FILES.some((pattern) => pattern.test(name))) made[`/${name}`] = Bun.file(join(import.meta.dir, name));
  }
  for (const name of SCRIPTS) made[`/${name}.js`] = await bundleScript(join(import.meta.dir, `${name}.ts`), 'iife');
  for (const name of MODULES) made[`/${name}.js`] = await bundleScript(join(import.meta.dir, `${name}.ts`), 'esm');
  for (const [part, path] of Object.entries(CLIENT_PARTS)) made[`/${path}`] = await bundleClientPart(part, true);
  return { ...made, ...(await smallPay()), '/openapi.json': await describeApi() };
}

/** The confirm page has a budget of bytes: it gets of the shared design what it uses. */
async function smallPay(): Promise<Readonly<Record<string, Blob>>> {
  const read = (name: string) => Bun.file(join(import.meta.dir, name)).text();
  const [tokens = '', parts = '', own = '', html = '', ...scripts] = await Promise.all(
    [
      ...['design/tokens.css', 'design/parts.css', 'pay/confirm.css', 'pay/confirm.html', 'wallet/view.ts'],
      ...readdirSync(join(import.meta.dir, 'pay')).flatMap((name) => (name.endsWith('.ts') ? [`pay/${name}`] : [])),
    ].map(read),
  );
  const style = pageStyle({ tokens, parts, own, page: [html, ...scripts].join('\n') });
  return { '/pay/confirm.html': new Blob([smallHtml(html)]), '/pay/confirm.css': new Blob([style]) };
}

/** The description of the API. Loaded here only: pages know nothing of the routes. */
async function describeApi(): Promise<Blob> {
  const { openApiDocument } = await import('../scripts/openapi/document.ts');
  return new Blob([JSON.stringify(await openApiDocument())]);
}

async function bundleScript(entry: string, format: 'iife' | 'esm'): Promise<Blob> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'browser',
    format,
    minify: true,
    plugins: [loadedApart('/')],
  });
  const [output] = outputs;
  if (!output) throw new Error(`${entry} makes nothing`);
  return output;
}
