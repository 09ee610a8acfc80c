// The payment handler's worker without a browser: its shipped script, and what a browser does around it.
import type { WorldTime } from '../hostile/time.ts';
import type { Line } from './line.ts';
import { dateOf } from './window.ts';

/** What a shop asks the browser for. */
export interface PaymentAsked {
  readonly id?: string;
  /** Of each identifier of the handler that the shop names. */
  readonly methods: readonly { readonly supportedMethods: string; readonly data?: unknown }[];
  readonly total?: unknown;
  readonly origin?: string;
  /** Of the frame that asks. */
  readonly frame?: string;
  /** Whether the browser opens the window. */
  readonly opens?: boolean;
}

/** What the shop's promise comes to. */
export type ShopTold = { readonly methodName: string; readonly details: Readonly<Record<string, unknown>> } | Error;

/** The worker. */
export interface PayWorker {
  /** A shop's request; `told` is undefined while it is open. */
  request(asked: PaymentAsked): Promise<{ readonly line: Line; told(): ShopTold | undefined }>;
  canPay(): Promise<boolean>;
  /** Takes the shop's request back; says whether it could be. */
  abort(): Promise<boolean>;
  /** A window of this origin, and of the confirm page unless told otherwise, that names a request. */
  lineTo(query: string, path?: string): Line;
  /** The browser ends the worker: it begins anew with the next message, and has forgotten all requests. */
  end(): void;
}

interface Client {
  readonly id: string;
  readonly url: string;
  postMessage(message: unknown): void;
}

type Listener = (event: object) => void;

/** Bundles the worker's script. */
export async function bundleWorker(): Promise<string> {
  const entry = new URL('../../../assets/pay/sw.ts', import.meta.url).pathname;
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser', format: 'iife' });
  return (outputs[0] as Blob).text();
}

const VAULT = 'https://vault.example';

/** Starts the worker of a vault. */
export function startWorker(script: string, time: WorldTime, shop: string): PayWorker {
  const clients = new Map<string, Client>();
  let listeners = new Map<string, Listener>();
  let count = 0;
  const start = () => {
    listeners = new Map();
    const own = listeners;
    const globals = {
      self: {
        location: new URL('/pay/sw.js', VAULT),
        clients: { get: async (id: string) => clients.get(id) },
        addEventListener: (type: string, listener: Listener) => own.set(type, listener),
      },
      setTimeout: (fn: () => void, ms: number) => time.timer(ms, () => own === listeners && fn()),
      crypto: { randomUUID: () => `request-${++count}` },
      Date: dateOf(time),
    };
    new Function(...Object.keys(globals), script)(...Object.values(globals));
  };
  const waitUntil = (work: Promise<unknown>) => void time.during(work);
  /** A message comes later than it is sent. */
  const soon = (deliver: () => void) => waitUntil(new Promise((resolve) => setImmediate(resolve)).then(deliver));
  const ask = (type: string): Promise<boolean> =>
    new Promise((resolve) => listeners.get(type)?.({ respondWith: (answer: boolean) => resolve(answer) }));

  function lineTo(query: string, path = '/pay/confirm'): Line {
    const hearers: Listener[] = [];
    const controller = {
      postMessage(data: unknown) {
        const source = client;
        soon(() => listeners.get('message')?.({ source, data: structuredClone(data), waitUntil }));
      },
    };
    const client: Client = {
      id: `client-${++count}`,
      url: `${VAULT}${path}?${query}`,
      postMessage(message) {
        const event = { source: controller, data: structuredClone(message) };
        soon(() => {
          for (const hear of hearers) hear(event);
        });
      },
    };
    clients.set(client.id, client);
    const serviceWorker = {
      controller,
      addEventListener: (_: string, hear: Listener) => hearers.push(hear),
      startMessages: () => undefined,
    };
    const nothing = () => undefined;
    const close = () => clients.delete(client.id);
    return { query, told: [], opener: null, serviceWorker, hear: nothing, say: nothing, close };
  }

  start();
  return {
    lineTo,
    end: start,
    canPay: () => ask('canmakepayment'),
    abort: () => ask('abortpayment'),
    async request({ id = 'order', methods, total, origin = shop, frame = origin, opens = true }) {
      let told: ShopTold | undefined;
      const path = await new Promise<string>((resolve) =>
        listeners.get('paymentrequest')?.({
          // As Chromium says them.
          ...{ topOrigin: `${origin}/`, paymentRequestOrigin: `${frame}/`, paymentRequestId: id },
          ...{ methodData: methods, total, waitUntil },
          respondWith: (answer: Promise<Exclude<ShopTold, Error>>) =>
            answer.then(
              (value) => (told = value),
              (error) => (told = error),
            ),
          openWindow: async (url: string) => {
            resolve(url);
            if (!opens) throw new Error('not allowed');
            return {};
          },
        }),
      );
      await time.settle();
      return { line: lineTo(new URL(path, VAULT).search.slice(1)), told: () => told };
    },
  };
}
