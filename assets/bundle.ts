import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundleClientPart, CLIENT_PARTS, loadedApart } from './client-parts.ts';
import { minify, pageStyle, smallHtml } from './small-page.ts';

/** Pages and scripts that are bundled, their paths without the ending, each from `assets/`. */
const SCRIPTS: readonly string[] = [
  'account/account',
  'approve/approve',
  'console/main',
  'landing/landing',
  'pass/pass',
  'pay/about',
  'pay/confirm',
  'pay/sw',
  'authorize/authorize',
];

/** Scripts that a page imports when it needs them. */
const MODULES: readonly string[] = ['account/qr', 'account/statement', 'pay/setup'];

/** Files that are served as they lie in `assets/`. */
const FILES: readonly RegExp[] = [
  /^enclave\.wasm$/,
  /^icons\/.+\.(?:png|svg)$/,
  /^words\/[\w-]+\/\w+\.json$/,
  /^(?:account|approve|authorize|design|landing|pass|pay)\/.+\.(?:html|css|json)$/,
  /^console\/.+\.html$/,
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
  return {
    ...made,
    ...(await smallPages()),
    ...(await consoleFiles()),
    '/openapi.json': await describeApi(),
  };
}

/** Pages with a budget of bytes: they get of the shared design what they use. */
async function smallPages(): Promise<Readonly<Record<string, Blob>>> {
  const [approve, confirm, authorize, landing, pass] = await Promise.all([
    smallPage('approve', 'approve'),
    smallPage('pay', 'confirm'),
    smallPage('authorize', 'authorize'),
    smallPage('landing', 'landing', ['landing/missing.html']),
    smallPage('pass', 'pass', ['pass/ready.html', 'pass/ended.html']),
  ]);
  return {
    '/favicon.ico': await icon(),
    '/landing/landing.css': new Blob([landing.style]),
    '/pass/pass.css': new Blob([pass.style]),
    '/approve/index.html': new Blob([smallHtml(approve.html)]),
    '/approve/approve.css': new Blob([approve.style]),
    '/pay/confirm.html': new Blob([smallHtml(confirm.html)]),
    '/pay/confirm.css': new Blob([confirm.style]),
    '/authorize/index.html': new Blob([smallHtml(authorize.html)]),
    '/authorize/authorize.css': new Blob([authorize.style]),
  };
}

/** The console's style and icon: a listener of `ADMIN_PORT` serves only the console's own paths. */
async function consoleFiles(): Promise<Readonly<Record<string, Blob>>> {
  const own = readdirSync(join(import.meta.dir, 'console')).filter((name) => name.endsWith('.css'));
  const paths = ['design/tokens.css', 'design/parts.css', ...own.toSorted().map((name) => `console/${name}`)];
  const texts = await Promise.all(paths.map((path) => Bun.file(join(import.meta.dir, path)).text()));
  return {
    '/console/icon.svg': Bun.file(join(import.meta.dir, 'icons/vault.svg')),
    '/console/style.css': new Blob([minify(texts.join('\n'))]),
  };
}

/** The small icon in the file format of icons: a directory of one entry, and the PNG. */
async function icon(): Promise<Blob> {
  const png = await Bun.file(join(import.meta.dir, 'icons/vault-48.png')).bytes();
  const head = new DataView(new ArrayBuffer(22));
  // Type 1 of one picture; 48 × 48, one plane of 32 bits, its length and where it begins.
  for (const [at, value] of [
    [2, 1],
    [4, 1],
    [10, 1],
    [12, 32],
  ] as const)
    head.setUint16(at, value, true);
  head.setUint16(6, (48 << 8) | 48);
  head.setUint32(14, png.length, true);
  head.setUint32(18, 22, true);
  return new Blob([head.buffer, png]);
}

/**
 * The HTML of a page, `index.html` where it has none of its name, and its style with the parts of the design that it
 * uses, or that `others` use which share the style.
 */
async function smallPage(
  folder: 'approve' | 'authorize' | 'landing' | 'pass' | 'pay',
  name: string,
  others: readonly string[] = [],
): Promise<{ html: string; style: string }> {
  const read = (path: string) => Bun.file(join(import.meta.dir, path)).text();
  const files = readdirSync(join(import.meta.dir, folder));
  const page = files.includes(`${name}.html`) ? `${folder}/${name}.html` : `${folder}/index.html`;
  const [tokens = '', parts = '', own = '', html = '', ...scripts] = await Promise.all(
    [
      ...['design/tokens.css', 'design/parts.css', `${folder}/${name}.css`, page],
      ...['wallet/view.ts', 'words/words.ts', ...others],
      ...files.flatMap((file) => (file.endsWith('.ts') ? [`${folder}/${file}`] : [])),
    ].map(read),
  );
  return { html, style: pageStyle({ tokens, parts, own, page: [html, ...scripts].join('\n') }) };
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
