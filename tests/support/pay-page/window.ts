// The confirm page without a browser: its shipped script on a document of its markup, with a device's passkeys and
// storage, a time that passes when the test says so, and a vault that may be real or recorded.
import { CREDENTIALS, type Device, on } from '../hostile/device.ts';
import type { WorldTime } from '../hostile/time.ts';
import { type FakeDocument, type FakeElement, fakeDocument, isShown, pressable, readText } from './dom.ts';
import type { Line, ShopMessage } from './line.ts';

/** The confirm page as it is shipped: its script, the one that it loads for the screen of accounts, and its markup. */
export interface PageBundle {
  readonly script: string;
  readonly setup: string;
  readonly html: string;
}

/** A window of the confirm page. */
export interface Window {
  readonly document: FakeDocument;
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
  /** The window is looked at, or not. */
  look(isSeen: boolean): void;
  /** The shop says something to the page. */
  readonly say: Line['say'];
  readonly told: readonly ShopMessage[];
  /** Where the page has gone, and what it has copied. */
  readonly went: string[];
  readonly copied: string[];
  /** What the page's own code could not handle. */
  readonly faults: string[];
}

/** What a window is opened with. */
export interface WindowOptions {
  readonly device: Device;
  readonly time: WorldTime;
  readonly line: Line;
  /** Asks the vault. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
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

/** Opens a window of the page. */
export function openWindow({ script, setup, html }: PageBundle, { device, time, line, ask }: WindowOptions): Window {
  let shownAt = 0;
  const document = fakeDocument(html, () => {
    shownAt = time.sequence();
  });
  const [went, copied, faults]: [string[], string[], string[]] = [[], [], []];
  let isClosed = false;
  const timers = timersOf(time, () => isClosed);
  const close = () => {
    isClosed = true;
    line.close?.();
    timers.clear();
  };
  const hear = (hearer: (event: object) => void) => line.hear((event) => isClosed || hearer(event));
  const window = {
    opener: line.opener,
    close,
    addEventListener: (_: string, hearer: (event: object) => void) => hear(hearer),
    onfocus: null as (() => void) | null,
  };
  const unanswered = new Promise<never>(() => undefined);
  const navigator = {
    credentials: credentialsOf(device, () => isClosed),
    serviceWorker: line.serviceWorker,
    storage: { persist: async () => ++device.persisted > 0 },
    clipboard: { writeText: async (text: string) => void copied.push(text) },
  };
  const globals = {
    globalThis: { navigator, ...(device.hasPasskeys ? { PublicKeyCredential: class {} } : {}) },
    navigator,
    matchMedia: () => ({ matches: false }),
    document,
    window,
    location: Object.assign(new URL(`/pay/confirm?${line.query}`, device.vault), {
      assign: (to: string) => went.push(to),
    }),
    indexedDB: { open: (...name: [string, number]) => (isClosed ? {} : device.indexedDB.open(...name)) },
    fetch: (path: string, init: RequestInit = {}) => (isClosed ? unanswered : time.during(ask(path, init))),
    ...timers.globals,
    Date: dateOf(time),
    crypto: cryptoOf(device, time),
    WebAssembly: wasmOf(time),
    NodeFilter: { SHOW_TEXT: 4 },
    AbortSignal: { timeout: () => undefined },
    localStorage: device.localStorage,
    console: { ...console, error: (error: unknown) => faults.push(String((error as Error)?.stack ?? error)) },
    print: () => undefined,
    load: async (path: string) => {
      if (path !== '/pay/setup.js') throw new TypeError(`no ${path} here`);
      const module = { exports: {} };
      run(setup, { ...globals, module, exports: module.exports });
      return module.exports;
    },
  };
  const run = (text: string, given: object) => compiled(text, Object.keys(given))(...Object.values(given));
  run(script, globals);
  const shown = () => document.parts.find((id) => document.byId.get(id)?.hidden === false);
  const press = (element: FakeElement | undefined) => {
    if (!isClosed && element && !element.disabled)
      element.onclick?.({ isTrusted: true, preventDefault: () => undefined });
  };
  return {
    ...{ document, went, copied, faults, told: line.told, say: line.say },
    isOpen: () => !isClosed,
    close,
    part: shown,
    shownAt: () => shownAt,
    text: (id) => readText(elementOf(document, id)),
    canPress: (id) => {
      const element = elementOf(document, id);
      return !isClosed && isShown(element) && !element.disabled && element.onclick !== null;
    },
    press: (id) => press(elementOf(document, id)),
    pressIn(id, which) {
      const buttons = pressable(elementOf(document, id));
      press(buttons[which % buttons.length]);
    },
    look(isSeen) {
      document.visibilityState = isSeen ? 'visible' : 'hidden';
      document.hasFocus = () => isSeen;
      document.onvisibilitychange?.();
    },
  };
}

function elementOf({ byId }: FakeDocument, id: string): FakeElement {
  const element = byId.get(id);
  if (!element) throw new Error(`no #${id}`);
  return element;
}

/** Scripts as functions of their globals, by their texts. Compiling one is dear; each run has variables of its own. */
const functions = new Map<string, (...globals: unknown[]) => unknown>();
function compiled(text: string, names: readonly string[]) {
  const known = functions.get(text) ?? (new Function(...names, text) as (...globals: unknown[]) => unknown);
  functions.set(text, known);
  return known;
}

/** A window's timers, which end with it. */
function timersOf(time: WorldTime, isClosed: () => boolean) {
  const timers = new Map<number, () => void>();
  let last = 0;
  const globals = {
    setTimeout: (fn: () => void, ms = 0) => {
      const id = ++last;
      const cancel = time.timer(ms, () => timers.delete(id) && fn());
      if (isClosed()) cancel();
      else timers.set(id, cancel);
      return id;
    },
    clearTimeout: (id: number) => {
      timers.get(id)?.();
      timers.delete(id);
    },
  };
  const clear = () => {
    for (const cancel of timers.values()) cancel();
  };
  return { globals, clear };
}

/** All windows share one enclave: making it is dear, each call of it ends before another begins, and it keeps nothing. */
const enclaves = new Map<number, Promise<WebAssembly.WebAssemblyInstantiatedSource>>();
function instantiate(bytes: Uint8Array<ArrayBuffer>, imports?: WebAssembly.Imports) {
  const known = enclaves.get(bytes.byteLength) ?? WebAssembly.instantiate(bytes, imports);
  enclaves.set(bytes.byteLength, known);
  return known;
}

/** What compiles is under way, on threads of its own, for as long as the machine takes. */
function wasmOf(time: WorldTime) {
  const compile = async (bytes: Uint8Array<ArrayBuffer>) => (await time.during(instantiate(bytes))).module;
  return {
    Module: WebAssembly.Module,
    compile,
    // Read from a file, on threads too.
    compileStreaming: async (answer: Promise<Response>) =>
      compile(new Uint8Array(await time.during((await answer).arrayBuffer()))),
    async instantiate(given: Uint8Array<ArrayBuffer> | WebAssembly.Module, imports?: WebAssembly.Imports) {
      if (!(given instanceof WebAssembly.Module)) return time.during(instantiate(given, imports));
      for (const one of enclaves.values()) if ((await one).module === given) return (await one).instance;
      return time.during(WebAssembly.instantiate(given, imports));
    },
  };
}

function credentialsOf(device: Device, isClosed: () => boolean) {
  const ask = <T>(act: () => Promise<T>): Promise<T> => (isClosed() ? new Promise(() => undefined) : on(device, act));
  return {
    create: (given: Parameters<typeof CREDENTIALS.create>[0]) => ask(() => CREDENTIALS.create(given)),
    get: (given: Parameters<typeof CREDENTIALS.get>[0]) => ask(() => CREDENTIALS.get(given)),
  };
}

/** `Date` at a world's time. */
export function dateOf(time: WorldTime): DateConstructor {
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
