import { CREDENTIALS, type Device, on, reach } from './device.ts';
import { type FakeDocument, fakeDocument, pressable } from './dom.ts';
import type { WorldTime } from './time.ts';

/** The confirm page as it is shipped: its script, the one that it loads for the screen of accounts, and its markup. */
export interface PageBundle {
  readonly script: string;
  readonly setup: string;
  readonly html: string;
}

/** What the shop asks for, as its message says it. */
export interface ShopRequest {
  readonly id: string;
  readonly data: Readonly<Record<string, string | number>>;
}

/** A message of the page to the shop. */
export interface ShopMessage {
  readonly type: string;
  readonly reason?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** When it was told (`WorldTime.sequence`). */
  readonly at: number;
}

/** A window of the confirm page that a shop has opened. */
export interface Window {
  isOpen(): boolean;
  close(): void;
  /** The part that is shown, and since when (`WorldTime.sequence`). */
  part(): string | undefined;
  shownAt(): number;
  /** What an element says; empty if it is hidden. */
  text(id: string): string;
  /** Whether the person can press it now. */
  canPress(id: string): boolean;
  press(id: string): void;
  /** Presses one of the buttons in a list. */
  pressIn(id: string, which: number): void;
  /** The shop takes its request back. */
  abort(): void;
  readonly told: ShopMessage[];
  /** What the page's own code could not handle. */
  readonly faults: string[];
}

const ASSETS = new URL('../../../assets/pay/', import.meta.url);

/** Bundles the page once for all windows. */
export async function bundlePage(): Promise<PageBundle> {
  const bundle = async (name: string, format: 'iife' | 'cjs') => {
    const entry = new URL(name, ASSETS).pathname;
    const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser', format });
    // A window loads what it loads by its own globals.
    return (await (outputs[0] as Blob).text()).replace(/\bimport\((\w+)\)/g, 'load($1)');
  };
  const [script, setup] = await Promise.all([bundle('confirm.ts', 'iife'), bundle('setup.ts', 'cjs')]);
  return { script, setup, html: await Bun.file(new URL('confirm.html', ASSETS)).text() };
}

/** Opens a window of the page for a shop's request, as a popup. */
export function openWindow(
  { script, setup, html }: PageBundle,
  { device, origin, time, request }: { device: Device; origin: string; time: WorldTime; request: ShopRequest },
): Window {
  let shownAt = 0;
  const document = fakeDocument(html, () => {
    shownAt = time.sequence();
  });
  const told: ShopMessage[] = [];
  const faults: string[] = [];
  const hearers: ((event: object) => void)[] = [];
  const timers = new Map<number, () => void>();
  let isClosed = false;
  let timerId = 0;
  const opener = {
    closed: false,
    postMessage(message: ShopMessage) {
      if (isClosed) return;
      if (message.type === 'ready') time.timer(0, () => say({ type: 'request', ...request }));
      else told.push({ ...message, at: time.sequence() });
    },
  };
  const say = (message: object) => {
    const data = { vault: 'pay', ...message };
    if (!isClosed) for (const hear of hearers) hear({ source: opener, origin, data });
  };
  const close = () => {
    isClosed = true;
    for (const cancel of timers.values()) cancel();
  };
  const globals = {
    document,
    window: { opener, close, addEventListener: (_: string, hear: (event: object) => void) => hearers.push(hear) },
    location: new URL(`/pay/confirm?mode=popup&origin=${encodeURIComponent(origin)}`, device.vault),
    navigator: { credentials: credentialsOf(device, () => isClosed) },
    indexedDB: { open: (...name: [string, number]) => (isClosed ? {} : device.indexedDB.open(...name)) },
    fetch: (path: string, init: RequestInit = {}) =>
      isClosed ? new Promise(() => undefined) : time.during(reach(device, path, init)),
    setTimeout: (fn: () => void, ms = 0) => {
      const id = ++timerId;
      if (!isClosed)
        timers.set(
          id,
          time.timer(ms, () => timers.delete(id) && !isClosed && fn()),
        );
      return id;
    },
    clearTimeout: (id: number) => {
      timers.get(id)?.();
      timers.delete(id);
    },
    Date: dateOf(time),
    crypto: cryptoOf(device, time),
    WebAssembly: WASM,
    NodeFilter: { SHOW_TEXT: 4 },
    AbortSignal: { timeout: () => undefined },
    localStorage: { getItem: () => null, setItem: () => undefined },
    console: { ...console, error: (error: unknown) => faults.push(String((error as Error)?.stack ?? error)) },
    print: () => undefined,
    load: async (path: string) => {
      if (path !== '/pay/setup.js') throw new TypeError(`no ${path} here`);
      const module = { exports: {} };
      run(setup, { ...globals, module, exports: module.exports });
      return module.exports;
    },
  };
  const run = (text: string, given: object) => new Function(...Object.keys(given), text)(...Object.values(given));
  run(script, globals);
  const shown = () => document.parts.find((id) => document.byId.get(id)?.hidden === false);
  return {
    told,
    faults,
    isOpen: () => !isClosed,
    close,
    part: shown,
    shownAt: () => shownAt,
    text: (id) => textOf(document, id),
    canPress: (id) => {
      const button = document.byId.get(id);
      return !isClosed && !!button && !button.hidden && !button.disabled && button.onclick !== null;
    },
    press: (id) => void (isClosed || document.byId.get(id)?.onclick?.({ isTrusted: true })),
    pressIn(id, which) {
      const list = document.byId.get(id);
      const buttons = list && !isClosed ? pressable(list) : [];
      buttons[which % buttons.length]?.onclick?.({ isTrusted: true });
    },
    abort: () => say({ type: 'abort' }),
  };
}

/** All windows share one enclave: making it is dear, each call of it ends before another begins, and it keeps nothing. */
const enclaves = new Map<number, Promise<WebAssembly.WebAssemblyInstantiatedSource>>();
function instantiate(bytes: Uint8Array<ArrayBuffer>, imports?: WebAssembly.Imports) {
  const known = enclaves.get(bytes.byteLength) ?? WebAssembly.instantiate(bytes, imports);
  enclaves.set(bytes.byteLength, known);
  return known;
}
const compile = async (bytes: Uint8Array<ArrayBuffer>) => (await instantiate(bytes)).module;
const WASM = {
  Module: WebAssembly.Module,
  compile,
  compileStreaming: async (answer: Promise<Response>) => compile(new Uint8Array(await (await answer).arrayBuffer())),
  async instantiate(given: Uint8Array<ArrayBuffer> | WebAssembly.Module, imports?: WebAssembly.Imports) {
    if (!(given instanceof WebAssembly.Module)) return instantiate(given, imports);
    for (const one of enclaves.values()) if ((await one).module === given) return (await one).instance;
    return WebAssembly.instantiate(given, imports);
  },
};

function textOf({ byId }: FakeDocument, id: string): string {
  const element = byId.get(id);
  return element && !element.hidden ? element.textContent : '';
}

function credentialsOf(device: Device, isClosed: () => boolean) {
  const ask = <T>(act: () => Promise<T>): Promise<T> => (isClosed() ? new Promise(() => undefined) : on(device, act));
  return {
    create: (given: Parameters<typeof CREDENTIALS.create>[0]) => ask(() => CREDENTIALS.create(given)),
    get: (given: Parameters<typeof CREDENTIALS.get>[0]) => ask(() => CREDENTIALS.get(given)),
  };
}

function dateOf(time: WorldTime): DateConstructor {
  return new Proxy(Date, {
    construct: (target, args) => new target(...((args.length > 0 ? args : [time.now()]) as [number])),
    get: (target, name) => (name === 'now' ? time.now : Reflect.get(target, name)),
  });
}

function cryptoOf({ keyring }: Device, time: WorldTime) {
  const { subtle } = crypto;
  return {
    subtle: {
      digest: (...given: Parameters<typeof subtle.digest>) => time.during(subtle.digest(...given)),
      // Of its signatures the page takes those only that are by the account's key.
      importKey: (...given: Parameters<typeof subtle.importKey>) => time.during(subtle.importKey(...given)),
      verify: (...given: Parameters<typeof subtle.verify>) => time.during(subtle.verify(...given)),
    },
    getRandomValues(bytes: Uint8Array) {
      bytes.set(keyring.draw.bytes(bytes.length));
      return bytes;
    },
  };
}
