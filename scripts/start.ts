// npm start: builds the vault, starts a dev stack around it (chain, contracts, bundler, paymaster, mail, a shop), and
// the vault in it. Ctrl+C, SIGTERM, or the end of npm ends all of it, at whatever step: then the exit code is 0. npm
// run dev (--watch): the dev stack stays, and the vault runs from its sources and starts again at each save. Flags
// behind --watch go to Bun: `bun scripts/start.ts --watch --inspect`. In package.json `exec` makes npm's shell this
// process, so that npm's signals come here and npm waits; Windows' cmd knows neither `exec` nor `#`, fails without a
// word, and runs what follows.
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildProgram } from './build/program.ts';
import type { Deployment } from './dev-stack/deploy.ts';
import { type DevStack, startDevStack } from './dev-stack/dev-stack.ts';
import { freeOr, freePort } from './dev-stack/port.ts';
import { startShop } from './dev-stack/shop.ts';
import { type Running, startRestarting } from './restarting.ts';
import { stopSignal } from './stopping.ts';

const ROOT = join(import.meta.dir, '..');
/**
 * Where the chain's state and the vault's data are kept; `WORLD_DIR` names another place, for a second one. Two that
 * start at one moment do not meet with `WORLD_PORTS=free`: else both may take the same port for free. `WORLD_PROGRAM`
 * names a built program, so that many of them build it once.
 */
const WORLD = process.env['WORLD_DIR'] ?? join(ROOT, '.world');

const DATA_DIR = join(WORLD, 'vault-data');
const SETTINGS_FILE = join(WORLD, 'vault.env');
const BUILT = process.env['WORLD_PROGRAM'];
const PROGRAM = BUILT ?? join(ROOT, 'dist/vault');

/** Where `npm run demo` finds what is running. */
export const STACK_FILE = join(WORLD, 'stack.json');

/** The running parts, by URL, the addresses of the contracts, and the file of the operator's secret. */
export interface Stack extends Deployment {
  readonly vault: string;
  readonly chain: string;
  readonly inbox: string;
  readonly shop: string;
  readonly operatorSecretFile: string;
}

/** The stack that runs here. Throws where none does. */
export async function readStack(): Promise<Stack> {
  const file = Bun.file(STACK_FILE);
  if (!(await file.exists()))
    throw new Error('nothing is running here: start it first, in another terminal, with  npm start');
  return (await file.json()) as Stack;
}

/** The shop as the vault knows it, and the brand of messages to the shop's people. */
const SHOP = 'shop';
const BRANDS = { [SHOP]: { name: 'Tea House', color: ['#0a6b48', '#57d9a3'] } };
const BRANDS_FILE = join(WORLD, 'brands.json');

const VAULT_PORT = 8787;
const SHOP_PORT = 8090;
/** The app of docs/tutorial.md. Other ones, by a file as docs/openid.md has it: `CLIENTS=clients.json npm start`. */
export const TUTORIAL_CLIENTS = { 'my-app': { redirect_uris: ['http://localhost:3000/back'] } };
const CLIENTS_FILE = join(WORLD, 'clients.json');

/** The sources of the vault, which `npm run dev` watches. */
const SOURCES = ['server.ts', 'commands', 'routes', 'lib', 'assets', 'client', 'contracts'];

async function main([watch, ...flags]: readonly string[], stop: AbortSignal): Promise<number> {
  const isWatched = watch === '--watch';
  if (!isWatched && BUILT === undefined) await build(stop);
  console.log('Starting the dev stack …');
  await mkdir(WORLD, { recursive: true });
  const devStack = await startDevStack(WORLD, say, stop);
  const port = freeOr(VAULT_PORT) || freePort();
  // By name, as the console and passkeys use it: a passkey belongs to a host name, not to an address.
  const origin = `http://localhost:${port}`;
  const { inbox } = devStack;
  const shop = await startShop({
    vault: origin,
    rpc: devStack.chain.rpc,
    app: SHOP,
    inbox: inbox.url,
    port: freeOr(SHOP_PORT),
  });
  inbox.lead({ shop: shop.url, vault: origin });
  const command = isWatched ? [process.execPath, ...flags, join(ROOT, 'server.ts')] : [PROGRAM];
  await writeSettings(devStack, port);
  const start = () => startVault(command);
  const vault = isWatched ? startRestarting({ start, root: ROOT, sources: SOURCES, say }) : runOnce(start());
  stop.addEventListener('abort', vault.stop);
  if (stop.aborted) vault.stop();
  if (await isReady(`http://127.0.0.1:${port}`, vault)) await announce(devStack, shop.url, port);
  const code = await vault.ended;
  await rm(STACK_FILE, { force: true });
  await Promise.all([shop.stop(), devStack.stop()]);
  return code;
}

async function build(stop: AbortSignal): Promise<void> {
  console.log('Building dist/vault …');
  await buildProgram(PROGRAM);
  stop.throwIfAborted();
}

/** Writes the vault's settings to a file, for commands beside it: `dist/vault doctor --config .world/vault.env`. */
async function writeSettings({ vars }: DevStack, port: number): Promise<void> {
  await Bun.write(BRANDS_FILE, JSON.stringify(BRANDS));
  const { CLIENTS, CLIENT_METADATA_HOSTS } = process.env;
  const clients = await appsBeside(CLIENTS);
  await Bun.write(CLIENTS_FILE, JSON.stringify(clients));
  const apps = new Set([SHOP, ...Object.keys(clients)]);
  const known = { APPS: [...apps].join(','), CLIENTS: CLIENTS_FILE, BRANDS: BRANDS_FILE };
  const agents = CLIENT_METADATA_HOSTS ? { CLIENT_METADATA_HOSTS } : {};
  const all = { ...vars, ...known, ...agents, PORT: `${port}`, DATA_DIR, LOG_FORMAT: 'pretty' };
  const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`);
  await Bun.write(SETTINGS_FILE, lines.join(''));
  await chmod(SETTINGS_FILE, 0o600);
}

/** The apps besides the shop: those of a file if one is named, else the tutorial's. */
export async function appsBeside(file: string | undefined): Promise<object> {
  return file ? Bun.file(file).json() : TUTORIAL_CLIENTS;
}

function startVault(command: readonly string[]): Bun.Subprocess {
  // Only what the file says, so that a variable left in this shell cannot lead the vault elsewhere; LOG_LEVEL leads
  // nowhere.
  const { LOG_LEVEL } = process.env;
  return Bun.spawn([...command, 'serve', '--config', SETTINGS_FILE], {
    // Bun's flag: the vault ends with this process, even when that is killed.
    env: { BUN_FEATURE_FLAG_NO_ORPHANS: '1', ...(LOG_LEVEL ? { LOG_LEVEL } : {}) },
    stdio: ['ignore', 'inherit', 'inherit'],
    // Ctrl+C reaches a terminal's whole process group: with the signal from here the vault would get two, and end at
    // once.
    detached: true,
  });
}

function runOnce(child: Bun.Subprocess): Running {
  return { ended: child.exited, stop: () => child.kill('SIGTERM') };
}

/** Writes down what is running, and says what to open. */
async function announce({ chain, inbox, contracts }: DevStack, shop: string, port: number): Promise<void> {
  const secret = join(DATA_DIR, 'operator.secret');
  const urls = { vault: `http://127.0.0.1:${port}`, chain: chain.url, inbox: inbox.url, shop };
  const stack: Stack = { ...contracts, ...urls, operatorSecretFile: secret };
  // A reader that waits for the file never sees half of it.
  await Bun.write(`${STACK_FILE}.draft`, JSON.stringify(stack, null, 2));
  await rename(`${STACK_FILE}.draft`, STACK_FILE);
  const pages = [
    [`http://localhost:${port}/console`, `the operator's page; sign in with what this prints:  cat ${secret}`],
    [shop, 'a shop: sign up, get test money, pay with a passkey'],
    [`http://localhost:${port}/account`, 'an account: its keys, its money, and its recovery'],
    [inbox.url, 'the mails and SMS it sends'],
  ] as const;
  console.log('In a browser:');
  for (const [page, what] of pages) say(`${page.padEnd(30)}  ${what}`);
  console.log('\nIn another terminal:');
  say('npm run demo         the whole main job, step by step');
  say('npm run fund 0x…     test money for an account: 100 USDC and 1 ETH of the local chain\n');
}

/** False once it has ended. A source may hold a mistake at first: then the vault is ready once that is put right. */
async function isReady(url: string, vault: Running): Promise<boolean> {
  let hasEnded = false;
  vault.ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
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
  const code = await main(process.argv.slice(2), stop).catch((error) => {
    if (!stop.aborted) throw error;
    return 0;
  });
  process.exit(stop.aborted ? 0 : code);
}
