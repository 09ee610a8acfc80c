// npm start: builds the vault, starts a world around it (chain, contracts, bundler, paymaster, mail, a shop), and the vault in it. Ctrl+C ends all of it.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildProgram } from './build.ts';
import type { Deployment } from './world/deploy.ts';
import { freeOr, freePort } from './world/port.ts';
import { startShop } from './world/shop.ts';
import { startWorld } from './world/world.ts';

const ROOT = join(import.meta.dir, '..');
/** Where the chain's state and the vault's data are kept; `WORLD_DIR` names another place, for a second world. */
const WORLD = process.env['WORLD_DIR'] ?? join(ROOT, '.world');

/** Where `npm run demo` finds what is running. */
export const STACK_FILE = join(WORLD, 'stack.json');

/** What is running, by URL, where its contracts are, and the file of the operator's secret. */
export interface Stack extends Deployment {
  readonly vault: string;
  readonly chain: string;
  readonly inbox: string;
  readonly shop: string;
  readonly operatorSecretFile: string;
}

const VAULT_PORT = 8787;
const SHOP_PORT = 8090;
const READY_TIMEOUT_MS = 15_000;

async function main(): Promise<number> {
  const say = (text: string) => console.log(`  ${text}`);
  console.log('Building dist/vault …');
  await buildProgram(join(ROOT, 'dist/vault'));
  console.log('Starting the world …');
  await mkdir(WORLD, { recursive: true });
  const world = await startWorld(WORLD, say);
  const port = freeOr(VAULT_PORT) || freePort();
  const data = join(WORLD, 'vault-data');
  // By name, as the console and passkeys have it: a passkey belongs to a host, and an address is none.
  const origin = `http://localhost:${port}`;
  const shop = await startShop({ vault: origin, rpc: world.chain.rpc, port: freeOr(SHOP_PORT) });
  const vault = Bun.spawn([join(ROOT, 'dist/vault'), 'serve'], {
    // Only what the world says, so that a variable left in this shell cannot lead the vault elsewhere.
    env: { ...world.vars, PORT: `${port}`, DATA_DIR: data, LOG_FORMAT: 'pretty' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => vault.kill(signal));
  const url = `http://127.0.0.1:${port}`;
  if (await isReady(url, vault)) {
    const { chain, inbox, contracts } = world;
    const operatorSecretFile = join(data, 'operator.secret');
    const urls = { vault: url, chain: chain.url, inbox: inbox.url, shop: shop.url };
    await Bun.write(STACK_FILE, JSON.stringify({ ...contracts, ...urls, operatorSecretFile } satisfies Stack, null, 2));
    const pages = [
      [`${origin}/console`, `the operator's page; sign in with what this prints:  cat ${operatorSecretFile}`],
      [inbox.url, 'the mail it sends'],
      [shop.url, 'a shop, to pay with a passkey (Chrome or Edge; by a popup in others)'],
    ] as const;
    console.log('In a browser:');
    for (const [page, what] of pages) say(`${page.padEnd(30)}  ${what}`);
    console.log('\nIn another terminal, the whole main job:  npm run demo\n');
  }
  const code = await vault.exited;
  await rm(STACK_FILE, { force: true });
  await Promise.all([shop.stop(), world.stop()]);
  return code;
}

async function isReady(url: string, vault: Bun.Subprocess): Promise<boolean> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline && vault.exitCode === null) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined);
    if (ready?.ok) return true;
    await Bun.sleep(20);
  }
  return false;
}

if (import.meta.main) process.exit(await main());
