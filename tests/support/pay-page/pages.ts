import { USDC } from '../../../scripts/dev-stack/usdc.ts';
import { openDraw } from '../draw.ts';
import { type Device, type Keyring, newDevice } from '../hostile/device.ts';
import { type WorldTime, worldTime } from '../hostile/time.ts';
import { type Line, linkLine, popupLine, type ShopRequest } from './line.ts';
import { type RecordedVault, recordedVault } from './vault.ts';
import { makeNew, type Visit, visit } from './visit.ts';
import { bundlePage, openWindow, type PageBundle } from './window.ts';
import { bundleWorker, type PayWorker, startWorker } from './worker.ts';

/** Somebody with an account of their own in their browser. */
export interface Person {
  readonly device: Device;
  /** With its checksum. */
  readonly account: string;
}

/** The confirm page at a recorded vault, without a browser. */
export interface PayPages {
  readonly vault: RecordedVault;
  readonly time: WorldTime;
  /** A browser that never saw the vault; with a keyring, another one of somebody's. */
  device(keyring?: Keyring): Device;
  /** A person whose account is not on the chain, with an ether and 100 USDC unless told otherwise. */
  person(funds?: Funds): Promise<Person>;
  fund(account: string, funds: Funds): void;
  open(device: Device, line: Line): Visit;
  /** A popup of `SHOP`; without a request, of a page of it that is gone. */
  popup(device: Device, request: ShopRequest | undefined): Visit;
  /** A link that leads back to `SHOP`. */
  link(device: Device, request: ShopRequest): Visit;
  /** The payment handler's worker, which opens windows for `SHOP`. */
  worker(): Promise<PayWorker>;
  /** A popup in which the person has approved. */
  approved(person: Person, request?: ShopRequest): Promise<Visit>;
  minutes(count: number): Promise<void>;
}

interface Funds {
  readonly wei?: bigint;
  readonly usdc?: bigint;
}

/** The shop that asks. */
export const SHOP = 'https://shop.example';

const RICH = { wei: 10n ** 18n, usdc: 100_000_000n };
/** How much time passes between looks. */
const STEP_MS = 250;
let bundle: Promise<PageBundle> | undefined;
let workerScript: Promise<string> | undefined;
let opened = 0;

/** Opens a vault in which nothing has happened. */
export async function openPayPages(): Promise<PayPages> {
  bundle ??= bundlePage();
  const page = await bundle;
  const time = worldTime(Date.UTC(2027, 0, 1));
  const vault = recordedVault(time);
  const draw = openDraw(++opened);
  const passing = { now: time.now, settle: time.settle, pass: () => time.leap(STEP_MS), faults: vault.faults };
  const pages: PayPages = {
    vault,
    time,
    device: (keyring) => newDevice('https://vault.example', draw, keyring),
    async person(funds = RICH) {
      const device = pages.device();
      const window = pages.link(device, orderOf());
      await makeNew(window);
      await window.shows('review');
      const account = window.text('from');
      pages.fund(account, funds);
      window.close();
      return { device, account };
    },
    fund(account, { wei, usdc }) {
      const balancesOf = (token: string) => vault.tokens.get(token)?.balances;
      if (wei !== undefined) balancesOf('native')?.set(account.toLowerCase(), wei);
      if (usdc !== undefined) balancesOf(USDC.toLowerCase())?.set(account.toLowerCase(), usdc);
    },
    open: (device, line) => visit(openWindow(page, { device, time, line, ask: vault.ask }), passing),
    popup: (device, request) => pages.open(device, popupLine(SHOP, request, time)),
    link: (device, request) => pages.open(device, linkLine(request, `${SHOP}/`)),
    async worker() {
      workerScript ??= bundleWorker();
      return startWorker(await workerScript, time, SHOP);
    },
    async approved({ device }, request = orderOf()) {
      const window = pages.popup(device, request);
      await window.press('approve');
      return window;
    },
    minutes: (count) => time.leap(count * 60_000),
  };
  return pages;
}

/** An order of a shop. */
export interface TestOrder extends ShopRequest {
  readonly data: Readonly<Record<string, unknown>> & { readonly to: string };
}

let orders = 0;
/** An order with an id and a payee of its own: 0.001 ETH, unless told otherwise. */
export function orderOf(more: Readonly<Record<string, unknown>> = {}): TestOrder {
  const to = `0x${(0xabc0000 + ++orders).toString(16).padStart(40, '0')}`;
  return { id: `order-${orders}`, data: { to, amount: '1000000000000000', token: 'native', chainId: 84532, ...more } };
}
