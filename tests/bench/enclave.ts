// bun run bench:enclave [rounds]: each primitive of the enclave as a ratio to @noble, in Bun, Node and Chromium.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBrowser } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type Finding, measure } from './enclave-cases.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const ROUND_MS = 120;

const wasm = await Bun.file(join(import.meta.dir, '../../assets/enclave.wasm')).bytes();
const folder = await mkdtemp(join(tmpdir(), 'vault-bench-'));
try {
  const results: [string, readonly Finding[]][] = [['Bun', await measure(wasm, ROUNDS, ROUND_MS)]];
  const script = await bundle();
  results.push(['Node', await inNode(script)]);
  if (chromium) results.push(['Chromium', await inChromium(script)]);
  print(results);
} finally {
  await rm(folder, { recursive: true });
}

/** The cases as a script for other runtimes, with the module inside. */
async function bundle(): Promise<string> {
  const entry = join(folder, 'main.ts');
  await Bun.write(
    entry,
    `import { measure } from '${join(import.meta.dir, 'enclave-cases.ts')}';
     const wasm = Uint8Array.from(atob('${Buffer.from(wasm).toString('base64')}'), (char) => char.charCodeAt(0));
     globalThis.findings = measure(wasm, ${ROUNDS}, ${ROUND_MS});
     console.log(JSON.stringify(await globalThis.findings));`,
  );
  await Bun.build({ entrypoints: [entry], outdir: folder, target: 'browser', format: 'esm' });
  return join(folder, 'main.js');
}

async function inNode(script: string): Promise<Finding[]> {
  const child = Bun.spawn(['node', script], { stdout: 'pipe', stderr: 'inherit' });
  return JSON.parse(await new Response(child.stdout).text());
}

async function inChromium(script: string): Promise<Finding[]> {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      url.endsWith('.js')
        ? new Response(Bun.file(script))
        : new Response('<script type="module" src="/main.js"></script>', { headers: { 'content-type': 'text/html' } }),
  });
  const { browser, close } = await startBrowser();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(300_000);
    await page.goto(server.url.href);
    await page.waitForFunction('globalThis.findings !== undefined');
    return (await page.evaluate('globalThis.findings')) as Finding[];
  } finally {
    await close();
    await server.stop(true);
  }
}

/** Calls a second of the module and their ratio to noble; in brackets the ratio of the client's call. */
function print(results: readonly (readonly [string, readonly Finding[]])[]): void {
  console.log(`${'ratio to @noble'.padEnd(24)}${results.map(([name]) => name.padStart(28)).join('')}`);
  for (const [i, { name }] of (results[0]?.[1] ?? []).entries()) {
    const cells = results.map(([, findings]) => {
      const { module, client, noble } = findings[i] ?? { module: 0, client: 0, noble: 1 };
      return `${Math.round(module)}/s ${(module / noble).toFixed(2)} (${(client / noble).toFixed(2)})`.padStart(28);
    });
    console.log(name.padEnd(24) + cells.join(''));
  }
}
