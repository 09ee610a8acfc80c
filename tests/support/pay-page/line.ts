// The ways on which a shop asks the confirm page to pay, and hears of it, without a browser.
import type { WorldTime } from '../hostile/time.ts';

/** What the shop asks for, as its message says it. */
export interface ShopRequest {
  readonly id: string;
  readonly data: unknown;
  readonly total?: unknown;
}

/** A message of the page to the shop. */
export interface ShopMessage {
  readonly type: string;
  readonly reason?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** When it was told (`WorldTime.sequence`). */
  readonly at: number;
}

/** What a window has of the way on which it is asked. */
export interface Line {
  /** The query of its address. */
  readonly query: string;
  readonly told: ShopMessage[];
  readonly opener: object | null;
  /** `navigator.serviceWorker`. */
  readonly serviceWorker?: object;
  /** Gives the page what the shop says, from `origin`. */
  hear(hear: (event: object) => void): void;
  /** The shop says something to the page. */
  say(message: object, from?: string): void;
  /** The window is closed. */
  close?(): void;
}

/** A popup of a shop's page, which asks as soon as the page is ready; one without a request says nothing. */
export function popupLine(
  origin: string,
  request: ShopRequest | undefined,
  time: WorldTime,
): Line & { readonly origins: ReadonlySet<string> } {
  const told: ShopMessage[] = [];
  /** The origins for which the page meant its messages: a browser gives them to no other. */
  const origins = new Set<string>();
  const hearers: ((event: object) => void)[] = [];
  const opener = {
    closed: false,
    postMessage(message: ShopMessage, target: string) {
      origins.add(target);
      if (message.type !== 'ready') told.push({ ...message, at: time.sequence() });
      else if (request) time.timer(0, () => say({ type: 'request', ...request }));
    },
  };
  const say = (message: object, from = origin) => {
    for (const hear of hearers) hear({ source: opener, origin: from, data: { vault: 'pay', ...message } });
  };
  const query = `mode=popup&origin=${encodeURIComponent(origin)}`;
  return { query, told, origins, opener, hear: (one) => void hearers.push(one), say };
}

/** A link that somebody follows. */
export function linkLine(request: Partial<ShopRequest>, returnUrl: string | undefined): Line {
  const text = Buffer.from(JSON.stringify({ ...request, returnUrl })).toString('base64url');
  const nothing = () => undefined;
  return { query: `mode=redirect&request=${text}`, told: [], opener: null, hear: nothing, say: nothing };
}
