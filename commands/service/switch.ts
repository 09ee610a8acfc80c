import { chmodSync, closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { type Arguments, needOption, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import { CONFIG, HELP, option } from '../cli/options.ts';
import { print } from '../cli/print.ts';
import { checkSettings, previewSettings } from '../setup/settings.ts';
import { askHaproxy, serversOf } from './haproxy-socket.ts';
import { HAPROXY_SOCKET, readSecondPort, SECOND_PORT, SECOND_SERVES, upstreamHost } from './proxy-facts.ts';

const READY_SECONDS = 120;
const UP_MS = 20_000;
const LOOK_MS = 200;
const ANSWER_MS = 5_000;
/** Requests for which the proxy has just chosen an address are sent by then. */
const SETTLE_MS = 1_000;

/** `vault service switch`. */
export const serviceSwitchCommand: Command = {
  summary: 'sends all requests to the first or to the second port, once the vault there is ready',
  options: [
    option('WHICH', 'first or second', ['first', 'second']),
    SECOND_PORT,
    option('--wait <seconds>', `how long it waits for the vault to be ready [${READY_SECONDS}]`),
    option('--haproxy-socket <file>', `where HAProxy takes orders, where it runs [${HAPROXY_SOCKET}]`),
    option('--switch-file <file>', `what nginx and Caddy look for [${SECOND_SERVES}]`),
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  notes: ['It waits for /readyz to be 200, and changes nothing if it is not by then.'],
  run: switchPorts,
};

/** Waits for the vault that is to serve, and turns the proxy to it. Throws an `Error` if one of the two refuses. */
async function switchPorts(given: Arguments): Promise<number> {
  const which = needOption(given, 'WHICH');
  if (which !== 'first' && which !== 'second') throw new UsageError('vault service switch needs first or second.');
  const config = checkSettings(previewSettings(given).settings);
  const port = which === 'first' ? config.port : readSecondPort(given, config);
  const url = `http://${upstreamHost(config.host)}:${port}`;
  await untilReady(url, readWait(given.options['wait']));
  const socket = given.options['haproxy-socket'] ?? HAPROXY_SOCKET;
  // A HAProxy that serves others has no servers of the vault.
  if (existsSync(socket) && (await serversOf(socket)).size > 0) await turnHaproxy(socket, which);
  turnFile(given.options['switch-file'] ?? SECOND_SERVES, which);
  await Bun.sleep(SETTLE_MS);
  print(`All requests go to the ${which} port, ${port}.`);
  return 0;
}

function readWait(text = String(READY_SECONDS)): number {
  if (!/^\d{1,5}$/.test(text)) throw new UsageError('--wait must be a number of seconds, such as 120.');
  return Number(text) * 1_000;
}

async function untilReady(url: string, waitMs: number): Promise<void> {
  const end = performance.now() + waitMs;
  let found = 'does not answer';
  do {
    const status = await statusOf(`${url}/readyz`);
    if (status === 200) return;
    if (status !== undefined) found = `answers ${status}`;
    await Bun.sleep(LOOK_MS);
  } while (performance.now() < end);
  throw new Error(`nothing was switched: ${url}/readyz ${found}. Look at the log of the vault there (journalctl).`);
}

async function statusOf(url: string): Promise<number | undefined> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'manual' })).status;
  } catch {
    return undefined;
  }
}

/** nginx and Caddy look for the file at each request. They run as other users. */
function turnFile(path: string, which: 'first' | 'second'): void {
  try {
    if (which === 'first') rmSync(path, { force: true });
    else {
      closeSync(openSync(path, 'a', 0o644));
      chmodSync(path, 0o644);
    }
  } catch (error) {
    throw new Error(`${path} cannot be ${which === 'first' ? 'removed' : 'made'}: run this as root (sudo)`, {
      cause: error,
    });
  }
}

/** HAProxy's own check finds the server up before the other one stops getting requests. */
async function turnHaproxy(socket: string, which: 'first' | 'second'): Promise<void> {
  const other = which === 'first' ? 'second' : 'first';
  await askHaproxy(socket, `set server vaults/${which} state ready`);
  const end = performance.now() + UP_MS;
  while (!(await serversOf(socket)).get(which)?.startsWith('UP')) {
    if (performance.now() > end)
      throw new Error(
        `nothing was switched: HAProxy does not find the server vaults/${which} up ("show stat" at ${socket}).`,
      );
    await Bun.sleep(LOOK_MS);
  }
  await askHaproxy(socket, `set server vaults/${other} state drain`);
}
