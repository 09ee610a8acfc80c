// The payment handler's service worker (W3C Payment Handler API). It keeps the shops' requests until the confirm page
// answers, knows no account, and uses no network. A classic script: the import below is a number that is bundled.
import { REQUEST_MS } from './constants.ts';

const CONFIRM_PATH = '/pay/confirm';

interface PaymentEvent {
  readonly topOrigin: string;
  readonly paymentRequestOrigin: string;
  readonly paymentRequestId: string;
  readonly methodData: readonly { readonly supportedMethods: string; readonly data?: unknown }[];
  readonly total: unknown;
  respondWith(answer: Promise<unknown>): void;
  waitUntil(work: Promise<unknown>): void;
  openWindow(url: string): Promise<object | null>;
}

interface Client {
  readonly id: string;
  readonly url: string;
  postMessage(message: unknown): void;
}

interface MessageEventFrom {
  readonly source: Client | null;
  readonly data: unknown;
  waitUntil(work: Promise<unknown>): void;
}

interface Answerable {
  respondWith(answer: boolean | Promise<boolean>): void;
}

interface WorkerScope {
  readonly location: Location;
  readonly clients: { get(id: string): Promise<Client | undefined> };
  addEventListener(type: 'canmakepayment' | 'abortpayment', listener: (event: Answerable) => void): void;
  addEventListener(type: 'paymentrequest', listener: (event: PaymentEvent) => void): void;
  addEventListener(type: 'message', listener: (event: MessageEventFrom) => void): void;
}

/** A shop's request; `committed` once the person's signature is about to be sent, after which it is not taken back. */
interface Pending {
  readonly request: Readonly<Record<string, unknown>>;
  readonly methodName: string;
  readonly expiresAt: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (reason: Error) => void;
  client: string | undefined;
  committed: boolean;
}

const scope = self as unknown as WorkerScope;
/** By a key of our own making, since a shop may give two requests the same id. */
const pending = new Map<string, Pending>();

// Always yes, with an account or without: a shop learns nothing of the person before approval.
scope.addEventListener('canmakepayment', (event) => event.respondWith(true));

scope.addEventListener('paymentrequest', (event) => {
  const key = crypto.randomUUID();
  const { methodData, topOrigin, paymentRequestOrigin, paymentRequestId, total } = event;
  const [method] = methodData;
  const expiresAt = expiryOf(method?.data);
  const answer = new Promise((resolve, reject) => {
    const request = { id: paymentRequestId, topOrigin, frameOrigin: paymentRequestOrigin, methodData, total };
    const methodName = method?.supportedMethods ?? '';
    pending.set(key, { request, methodName, expiresAt, resolve, reject, client: undefined, committed: false });
  });
  event.respondWith(answer);
  setTimeout(() => expire(key), Math.max(0, expiresAt - Date.now()));
  event.waitUntil(open(event, key));
});

scope.addEventListener('abortpayment', (event) => event.respondWith(abort()));

scope.addEventListener('message', (event) => {
  const { source, data } = event;
  if (source === null || !isConfirmPage(source.url) || typeof data !== 'object' || data === null) return;
  event.waitUntil(hear(source, data as Readonly<Record<string, unknown>>));
});

/** Its own origin and the very path: another page of the origin has no say. */
function isConfirmPage(url: string): boolean {
  const { origin, pathname } = new URL(url);
  return origin === scope.location.origin && pathname === CONFIRM_PATH;
}

async function hear(source: Client, { type, key, details }: Readonly<Record<string, unknown>>): Promise<void> {
  const known = typeof key === 'string' ? pending.get(key) : undefined;
  if (!known || typeof key !== 'string' || !(await isTheirs(known, source))) {
    return source.postMessage({ type: 'gone', key });
  }
  if (type === 'ready') {
    const { request, expiresAt, committed } = known;
    return source.postMessage({ type: 'request', key, request, expiresAt, committed });
  }
  if (type === 'commit') {
    known.committed ||= Date.now() < known.expiresAt;
    return source.postMessage({ type: known.committed ? 'committed' : 'gone', key });
  }
  if (type === 'answer') known.resolve({ methodName: known.methodName, details });
  if (type === 'cancel') known.reject(new Error('The payment was cancelled'));
  if (type === 'answer' || type === 'cancel') pending.delete(key);
}

/** The first window that names the key owns the request, and a reload of it does. */
async function isTheirs(known: Pending, { id }: Client): Promise<boolean> {
  if (known.client !== undefined && known.client !== id && (await scope.clients.get(known.client))) return false;
  known.client = id;
  return true;
}

/** The event does not name its request: a request is taken back only if it is the only one, and not yet sent. */
async function abort(): Promise<boolean> {
  for (const [key, { client }] of [...pending]) {
    // No event says that its window was closed.
    if (client !== undefined && !(await scope.clients.get(client))) pending.delete(key);
  }
  const [[key, only] = [], ...others] = [...pending];
  if (key === undefined || only === undefined || others.length > 0 || only.committed) return false;
  await drop(key, 'aborted');
  return true;
}

async function open(event: PaymentEvent, key: string): Promise<void> {
  const opened = await event.openWindow(`${CONFIRM_PATH}?request=${key}`).catch(() => null);
  if (!opened) await drop(key, 'gone');
}

/** A signature that is on its way is waited for as long as the browser lets the worker live. */
function expire(key: string): void {
  if (pending.get(key)?.committed === false) void drop(key, 'expired');
}

async function drop(key: string, type: 'aborted' | 'expired' | 'gone'): Promise<void> {
  const known = pending.get(key);
  pending.delete(key);
  known?.reject(new Error(`The payment request was ${type === 'gone' ? 'not shown' : type}`));
  if (known?.client !== undefined) (await scope.clients.get(known.client))?.postMessage({ type, key });
}

/** A shop may set an earlier end by `data.expires`; the confirm page explains what is wrong with an invalid time. */
function expiryOf(data: unknown): number {
  const { expires } = (data ?? {}) as { readonly expires?: unknown };
  const asked = typeof expires === 'string' ? Date.parse(expires) : Number.NaN;
  const latest = Date.now() + REQUEST_MS;
  return Number.isNaN(asked) ? latest : Math.min(asked, latest);
}
