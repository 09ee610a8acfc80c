import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { temporaryFolder } from '../support/databases.ts';
import { programOf } from '../support/runtime.ts';
import { startVault, type TestVault } from '../support/vault.ts';
import { runChecks } from './enclave-checks.ts';

const WASM = join(import.meta.dir, '../../assets/enclave.wasm');
const wasm = readFileSync(WASM);
const sha256 = createHash('sha256').update(wasm).digest('hex');

type Outcome = Readonly<Record<string, unknown>>;

const folder = temporaryFolder();
let vault: TestVault;
let expected: Outcome;
beforeAll(async () => {
  vault = await startVault();
  const outcome = await runChecks(wasm, sha256);
  expected = Object.fromEntries(Object.keys(outcome).map((name) => [name, true]));
  expect(outcome).toEqual(expected);
  expect(Object.keys(outcome).length).toBe(8);
});
afterAll(async () => {
  await vault.stop();
  folder.remove();
});

/** A script of the client and its checks, for a runtime that is not this one. */
async function bundle(name: string, source: string): Promise<string> {
  const entry = join(folder.path, `${name}.ts`);
  await Bun.write(entry, `import { runChecks } from '${join(import.meta.dir, 'enclave-checks.ts')}';\n${source}`);
  await Bun.build({ entrypoints: [entry], outdir: folder.path, target: 'browser', format: 'esm' });
  return join(folder.path, `${name}.js`);
}

describe("the enclave's client", () => {
  test('in Bun, from the URL', async () => {
    expect(await runChecks(`${vault.url}/enclave.wasm`, sha256)).toEqual(expected);
  });

  test('in Node, from the URL', async () => {
    expect(await runIn('node')).toEqual(expected);
  });

  const deno = programOf('@deno/linux-x64-glibc/deno');
  test.skipIf(!deno)('in Deno, from the URL', async () => {
    expect(await runIn(deno ?? '', 'run', '--allow-all', '--no-remote', '--quiet')).toEqual(expected);
  });

  async function runIn(...command: string[]): Promise<unknown> {
    const script = await bundle(
      'main',
      `console.log(JSON.stringify(await runChecks('${vault.url}/enclave.wasm', '${sha256}')));`,
    );
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, DENO_NO_UPDATE_CHECK: '1' };
    const child = Bun.spawn([...command, script], { cwd: folder.path, env, stdout: 'pipe', stderr: 'inherit' });
    return JSON.parse(await new Response(child.stdout).text());
  }
});

describe.skipIf(!chromium)('the enclave in Chromium, on a page of another origin with a strict CSP', () => {
  let owned: OwnBrowser;
  let site: ReturnType<typeof Bun.serve>;
  beforeAll(async () => {
    owned = await startShell();
    const url = `${vault.url}/enclave.wasm`;
    const script = await bundle(
      'page',
      `globalThis.checked = runChecks('${url}', '${sha256}');
         globalThis.streamed = WebAssembly.instantiateStreaming(fetch('${url}', { integrity: '${integrity()}' }))
           .then(({ instance }) => instance.exports.abi_version(), String);`,
    );
    site = Bun.serve({ port: 0, hostname: 'localhost', fetch: (request) => page(new URL(request.url), script) });
  });
  afterAll(async () => {
    await owned.close();
    await site.stop(true);
  });

  const page = ({ pathname, searchParams }: URL, script: string) => {
    if (pathname === '/page.js') return new Response(Bun.file(script));
    const allows = searchParams.has('without') ? '' : " 'wasm-unsafe-eval'";
    const policy = `default-src 'none'; script-src 'self'${allows}; connect-src ${vault.url}`;
    const headers = { 'content-type': 'text/html', 'content-security-policy': policy };
    return new Response('<!doctype html><title>page</title><script type="module" src="/page.js"></script>', {
      headers,
    });
  };
  const integrity = () => `sha256-${createHash('sha256').update(wasm).digest('base64')}`;
  const open = async (query: string) => {
    const tab = await owned.browser.newPage();
    // `localhost` and `127.0.0.1` are two origins, and two sites.
    await tab.goto(`http://localhost:${site.port}/${query}`);
    await tab.waitForFunction('globalThis.streamed !== undefined');
    return tab;
  };

  test('instantiateStreaming takes it, and its digest', async () => {
    const tab = await open('');
    expect(await tab.evaluate('streamed')).toBe(2);
  });

  test('the client makes a key and signs, and WebCrypto verifies the signature', async () => {
    const tab = await open('');
    expect(await tab.evaluate('checked')).toEqual(expected);
  });

  test("a policy without 'wasm-unsafe-eval' forbids it, as the documents say", async () => {
    const tab = await open('?without');
    expect(String(await tab.evaluate('streamed'))).toContain('CompileError');
  });
});
