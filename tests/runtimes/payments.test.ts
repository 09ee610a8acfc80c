import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type PaymentOrder, type PaymentReceipt, verifyPayment } from '../../client/payments.ts';
import { startShell } from '../../scripts/dev-stack/browser.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { createPayer, orderOf, payOrder, USDC } from '../support/payers.ts';
import { startListening } from '../support/program.ts';
import { makeProject, type Project, programOf } from '../support/runtime.ts';
import { until } from '../support/until.ts';

type Case = readonly [PaymentReceipt, PaymentOrder];

let chain: Chain;
let project: Project;
let cases: readonly Case[];
/** What Bun says of the sources. */
let expected: unknown;
beforeAll(async () => {
  [chain, project] = await Promise.all([startChain(), makeProject('bun')]);
  const account = await createPayer(chain.rpc, 2);
  const [ether, usdc] = [orderOf(), orderOf({ token: USDC })];
  const receipts = [await payOrder(chain.rpc, account, ether), await payOrder(chain.rpc, account, usdc)] as const;
  cases = [
    [receipts[0], ether],
    [receipts[1], usdc],
    [receipts[0], usdc],
    [receipts[1], orderOf({ token: USDC })],
  ];
  expected = await Promise.all(cases.map((one) => verifyPayment(...one, chain.url, { finalityBlocks: 0 })));
  expect((expected as { status: string }[]).map(({ status }) => status)).toEqual(['paid', 'paid', 'paid', 'unpaid']);
  project.write('check.mjs', CHECK(JSON.stringify(cases), chain.url));
});
afterAll(async () => {
  project.remove();
  await chain.stop();
});

const CHECK = (asked: string, url: string) => `import { verifyPayment } from 'vault/payments';
export const check = () => Promise.all(${asked}.map((one) => verifyPayment(...one, '${url}', { finalityBlocks: 0 })));
`;

describe('the package says the same as the sources', () => {
  const print = "import { check } from './check.mjs';\nconsole.log(JSON.stringify(await check()));";
  const run = async (...command: string[]) => {
    const script = project.write('print.mjs', print);
    const env = { PATH: process.env['PATH'] ?? '', HOME: project.path, DENO_NO_UPDATE_CHECK: '1' };
    const child = Bun.spawn([...command, script], { cwd: project.path, env, stdout: 'pipe', stderr: 'inherit' });
    return JSON.parse(await new Response(child.stdout).text());
  };

  test('in Bun', async () => expect(await run(process.execPath)).toEqual(expected));
  test('in Node', async () => expect(await run('node')).toEqual(expected));

  const deno = programOf('@deno/linux-x64-glibc/deno');
  test.skipIf(!deno)('in Deno', async () =>
    expect(await run(deno ?? '', 'run', '--allow-all', '--no-remote', '--quiet')).toEqual(expected),
  );

  const workerd = programOf('@cloudflare/workerd-linux-64/bin/workerd');
  test.skipIf(!workerd)('in workerd', async () => {
    const worker = 'export default { fetch: async () => Response.json(await check()) };';
    await bundle('worker', `import { check } from './check.mjs';\n${worker}`);
    const port = freePort();
    const config = project.write('config.capnp', configOf(port));
    const script = `echo "listening on http://127.0.0.1:${port}"; exec "$0" serve "$1"`;
    const { url, stop } = await startListening(['sh', '-c', script, workerd ?? '', config], {
      cwd: project.path,
      env: { PATH: process.env['PATH'] ?? '' },
    });
    expect(await answerOf(url)).toEqual(expected);
    await stop();
  });

  test.skipIf(!chromium)('in a browser', async () => {
    const page = await bundle('page', "import { check } from './check.mjs';\nglobalThis.checked = check();");
    const { browser, close } = await startShell();
    const tab = await browser.newPage();
    // A secure context.
    const blank = new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } });
    const site = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => blank.clone() });
    await tab.goto(site.url.href);
    await tab.addScriptTag({ content: await Bun.file(page).text() });
    expect(await tab.evaluate('checked')).toEqual(expected as never);
    await close();
    await site.stop(true);
  });
});

async function bundle(name: string, source: string): Promise<string> {
  const entry = project.write(`${name}.entry.mjs`, source);
  await Bun.build({ entrypoints: [entry], outdir: project.path, target: 'browser', naming: `${name}.js` });
  return join(project.path, `${name}.js`);
}

function configOf(port: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2025-01-01")),
    (name = "internet", network = (allow = ["public", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;
}

/** It listens a little after it said so. */
async function answerOf(url: string): Promise<unknown> {
  return (await until('it listens', () => fetch(url).catch(() => undefined))).json();
}
