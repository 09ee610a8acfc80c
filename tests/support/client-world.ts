// A vault that relays, on a chain, whose time goes by itself; and people whose passkeys are in software.
import { systemClock } from '../../lib/base/clock.ts';
import { keepWorking } from './background.ts';
import { type RelayChain, startRelayChain } from './candidates.ts';
import { openDraw } from './draw.ts';
import { CREDENTIALS, type Device, newDevice, on } from './hostile/device.ts';
import type { TestChain } from './onchain.ts';
import { SEED } from './seed.ts';
import { startVault, type TestVault } from './vault.ts';

/** What journeys of `vault/client` are tried in, without a browser. */
export interface ClientWorld<C extends TestChain = RelayChain> {
  readonly t: TestVault;
  readonly chain: C;
  /** The vault's address, by the name that passkeys have. */
  readonly url: string;
  /** A person's device without passkeys. */
  device(): Device;
  /** Moves the vault's clock on, and no other. */
  later(seconds: number): void;
  /** Moves all clocks on: the vault's, the chain's, and those of the pages. */
  allLater(seconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it, with settings on top. */
export async function startClientWorld(vars: Readonly<Record<string, string>> = {}): Promise<ClientWorld> {
  return openClientWorld(await startRelayChain(), vars);
}

/** Starts it on a chain, which ends with it. */
export async function openClientWorld<C extends TestChain>(
  chain: C,
  vars: Readonly<Record<string, string>> = {},
): Promise<ClientWorld<C>> {
  let shift = 0;
  const clock = {
    ...systemClock,
    now: () => systemClock.now() + shift,
    monotonic: () => systemClock.monotonic() + shift,
    advance: () => Promise.reject(new Error('this clock goes by itself')),
  };
  const wide = { MAX_VERIFY_SENDS_PER_IP: '1000', RATE_LIMIT_CODES_PER_IDENTIFIER: '1000' };
  const t = await startVault({ ...chain.vars, ...wide, ...vars }, { clock });
  const endWork = keepWorking(t, 100);
  const before = Object.getOwnPropertyDescriptor(navigator, 'credentials');
  Object.defineProperty(navigator, 'credentials', { value: CREDENTIALS, configurable: true });
  Object.defineProperty(globalThis, 'PublicKeyCredential', { value: class {}, configurable: true });
  const draw = openDraw(SEED);
  const realNow = Date.now;
  let allShift = 0;
  Date.now = () => realNow() + allShift;
  return {
    t,
    chain,
    url: t.url,
    device: () => newDevice(t.url, draw),
    later(seconds) {
      shift += seconds * 1000;
    },
    async allLater(seconds) {
      allShift += seconds * 1000;
      await chain.rpc('evm_increaseTime', [seconds]);
      await chain.mine();
    },
    async stop() {
      await endWork();
      Date.now = realNow;
      if (before) Object.defineProperty(navigator, 'credentials', before);
      else Reflect.deleteProperty(navigator, 'credentials');
      Reflect.deleteProperty(globalThis, 'PublicKeyCredential');
      await t.stop();
      await chain.stop();
    },
  };
}

export { on };

/** A storage that lives as long as the test wants: what a browser keeps over a reload. */
export function newStorage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> & { readonly size: number } {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, text) => void items.set(name, text),
    removeItem: (name) => void items.delete(name),
    get size() {
      return items.size;
    },
  };
}

/** Decides what becomes of a request; `pass` sends it. */
type LineTrouble = (request: Request, pass: () => Promise<Response>) => Promise<Response>;

/** A connection between a client and its vault, which a test makes fail. */
export interface FaultyLine {
  readonly fetch: typeof fetch;
  /** Each request, as `METHOD /path`. */
  readonly asked: string[];
  /** Undefined passes everything. */
  trouble: LineTrouble | undefined;
}

/** A connection that is well. */
export function faultyFetch(): FaultyLine {
  const ask = async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    line.asked.push(`${request.method} ${new URL(request.url).pathname}`);
    const pass = () => fetch(request);
    return line.trouble ? line.trouble(request, pass) : pass();
  };
  const line: FaultyLine = { fetch: ask as typeof fetch, asked: [], trouble: undefined };
  return line;
}

/** The connection broke. */
export function broken(): Promise<never> {
  return Promise.reject(new TypeError('fetch failed'));
}
