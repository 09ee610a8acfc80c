import type { Hex } from 'ox';
import type { Passkey } from '../../../scripts/dev-stack/passkey.ts';
import { type Device, type Keyring, newDevice, reach } from '../hostile/device.ts';
import { type HostileWorld, startHostileWorld } from '../hostile/world.ts';
import { linkLine } from './line.ts';
import { orderOf, SHOP } from './pages.ts';
import { makeNew, type Visit, visit } from './visit.ts';
import { bundlePage, openWindow } from './window.ts';

/** The confirm page without a browser, at a real vault and chain, whose upstreams are honest unless a test says else. */
export interface ChainPages extends HostileWorld {
  /** A browser that never saw the vault; with a keyring, another one of somebody's. */
  device(keyring?: Keyring, vault?: string): Device;
  /** The page on a device, by a link to a new order; `received` is what its payee has. */
  open(device: Device, more?: Readonly<Record<string, unknown>>): Visit & { received(): Promise<bigint> };
  /** An account made on a new device, which is neither on the chain nor registered. */
  makeAccount(device?: Device): Promise<{ readonly device: Device; readonly account: Hex.Hex }>;
}

interface ChainPagesOptions {
  readonly seed: number;
  readonly hardfork?: 'prague';
  readonly vars?: Readonly<Record<string, string>>;
}

/** Starts it all. Each transaction is in a block at once. */
export async function startChainPages(options: ChainPagesOptions): Promise<ChainPages> {
  const [page, world] = await Promise.all([bundlePage(), startHostileWorld(options)]);
  const { time } = world;
  await world.chain.rpc('evm_setAutomine', [true]);
  const passing = { now: time.now, settle: time.settle, pass: () => world.turn(1) };
  const pages: ChainPages = {
    ...world,
    device: (keyring, vault = world.vault.url) => newDevice(vault, world.draw, keyring),
    open(device, more = {}) {
      const order = orderOf(more);
      const line = linkLine(order, `${SHOP}/`);
      const window = openWindow(page, { device, time, line, ask: (path, init) => reach(device, path, init) });
      return { ...visit(window, passing), received: () => world.balanceOf(order.data.to, 'native') };
    },
    async makeAccount(device = pages.device()) {
      const window = pages.open(device);
      await makeNew(window);
      await window.shows('review');
      window.close();
      return { device, account: window.text('from') as Hex.Hex };
    },
  };
  return pages;
}

/** The first passkey of a device. */
export function passkeyOf({ keyring }: Device): Passkey & { readonly credentialId: string } {
  for (const [credentialId, { passkey }] of keyring.passkeys) return { ...passkey, credentialId };
  throw new Error('no passkey');
}

/** Has the page find the account of a passkey. One that nothing tells takes a second signature. */
export async function find(window: Visit, signatures: 1 | 2): Promise<void> {
  await window.press('find');
  if (signatures === 1) return;
  await window.until('a second signature', () => window.text('setup-notice').includes('Please confirm once more'));
  await window.press('find');
}
