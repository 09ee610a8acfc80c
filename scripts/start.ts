// npm start: builds the vault, starts a world around it (chain, contracts, bundler, paymaster, mail, a shop), and the
// vault in it. Ctrl+C, SIGTERM, or the end of npm ends all of it, at whatever step: then the exit code is 0.
// In package.json `exec` makes npm's shell this process, so that npm's signals come here and npm waits; Windows' cmd
// knows neither `exec` nor `#`, fails without a word, and runs what follows.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildProgram } from './build.ts';
import { stopSignal } from './stopping.ts';
import type { Deployment } from './world/deploy.ts';
import { freeOr, freePort } from './world/port.ts';
import { hasEnded } from './world/service.ts';
import { startShop } from './world/shop.ts';
import { startWorld, type World } from './world/world.ts';

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

async function main(stop: AbortSignal): Promise<number> {
  console.log('Building dist/vault …');
  await buildProgram(join(ROOT, 'dist/vault'));
  stop.throwIfAborted();
  console.log('Starting the world …');
  await mkdir(WORLD, { recursive: true });
  const world = await startWorld(WORLD, say, stop);
  const port = freeOr(VAULT_PORT) || freePort();
  // By name, as the console and passkeys have it: a passkey belongs to a host, and an address is none.
  const origin = `http://localhost:${port}`;
  const shop = await startShop({ vault: origin, rpc: world.chain.rpc, port: freeOr(SHOP_PORT) });
  const code = await runVault(world, shop.url, port, stop);
  await rm(STACK_FILE, { force: true });
  await Promise.all([shop.stop(), world.stop()]);
  return code;
}

/** Resolves with the vault's exit code once it has ended, by itself or by `stop`. */
async function runVault(world: World, shop: string, port: number, stop: AbortSignal): Promise<number> {
  const data = join(WORLD, 'vault-data');
  const vault = Bun.spawn([join(ROOT, 'dist/vault'), 'serve'], {
    // Only what the world says, so that a variable left in this shell cannot lead the vault elsewhere. The first is Bun's:
    // the vault ends with this process, even when that is killed.
    env: { BUN_FEATURE_FLAG_NO_ORPHANS: '1', ...world.vars, PORT: `${port}`, DATA_DIR: data, LOG_FORMAT: 'pretty' },
    stdio: ['ignore', 'inherit', 'inherit'],
    // Ctrl+C reaches a terminal's whole process group: with the signal from here the vault would get two, and end at once.
    detached: true,
  });
  const end = () => vault.kill('SIGTERM');
  stop.addEventListener('abort', end);
  if (stop.aborted) end();
  if (await isReady(`http://127.0.0.1:${port}`, vault))
    await announce(world, shop, port, join(data, 'operator.secret'));
  return vault.exited;
}

/** Writes down what is running, and says what to open. */
async function announce({ chain, inbox, contracts }: World, shop: string, port: number, secret: string): Promise<void> {
  const urls = { vault: `http://127.0.0.1:${port}`, chain: chain.url, inbox: inbox.url, shop };
  const stack: Stack = { ...contracts, ...urls, operatorSecretFile: secret };
  await Bun.write(STACK_FILE, JSON.stringify(stack, null, 2));
  const pages = [
    [`http://localhost:${port}/console`, `the operator's page; sign in with what this prints:  cat ${secret}`],
    [inbox.url, 'the mail it sends'],
    [shop, 'a shop, to pay with a passkey (Chrome or Edge; by a popup in others)'],
  ] as const;
  console.log('In a browser:');
  for (const [page, what] of pages) say(`${page.padEnd(30)}  ${what}`);
  console.log('\nIn another terminal, the whole main job:  npm run demo\n');
}

async function isReady(url: string, vault: Bun.Subprocess): Promise<boolean> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline && !hasEnded(vault)) {
    const ready = await fetch(`${url}/readyz`).catch(() => undefined);
    if (ready?.ok) return true;
    await Bun.sleep(20);
  }
  return false;
}

function say(text: string): void {
  console.log(`  ${text}`);
}

if (import.meta.main) {
  const stop = stopSignal();
  stop.addEventListener('abort', () => console.log('Ending …'));
  const code = await main(stop).catch((error) => {
    if (!stop.aborted) throw error;
    return 0;
  });
  process.exit(stop.aborted ? 0 : code);
}
