/** An event of the stream. Its texts come from strangers, so they are shown only as text. */
export interface ConsoleEvent {
  readonly id: number;
  readonly app: string;
  readonly channel: string;
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Which events are shown: `hidden` channels are not, and all words of `text` must occur. */
export interface EventFilter {
  readonly hidden: ReadonlySet<string>;
  readonly text: string;
}

/** The newest events, up to a maximum. */
export interface Ring {
  push(event: ConsoleEvent): void;
  /** Newest first. */
  matching(filter: EventFilter): readonly ConsoleEvent[];
  /** How many events are kept, and how many were received. */
  counts(): { readonly kept: number; readonly seen: number; readonly byChannel: ReadonlyMap<string, number> };
  clear(): void;
}

/** Parses the data of a frame; undefined if it is not an event. */
export function readEvent(data: string): ConsoleEvent | undefined {
  try {
    const { id, app, channel, type, at, data: members, ...rest } = JSON.parse(data);
    if (typeof id !== 'number' || typeof type !== 'string' || typeof channel !== 'string') return undefined;
    return { id, app: String(app), channel, type, at: String(at), data: { ...rest, ...members } };
  } catch {
    return undefined;
  }
}

/** Whether the filter lets the event through. */
export function matches({ app, channel, type, data }: ConsoleEvent, { hidden, text }: EventFilter): boolean {
  if (hidden.has(channel)) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const haystack = `${type} ${channel} ${app} ${JSON.stringify(data)}`.toLowerCase();
  return words.every((word) => haystack.includes(word));
}

/** A ring of at most `max` events: the oldest go first. */
export function createRing(max: number): Ring {
  let events: ConsoleEvent[] = [];
  let seen = 0;
  const byChannel = new Map<string, number>();
  return {
    push(event) {
      events.push(event);
      seen++;
      byChannel.set(event.channel, (byChannel.get(event.channel) ?? 0) + 1);
      // Cut now and then, so that a burst does not move the whole list with every event.
      if (events.length >= 2 * max) events = events.slice(-max);
    },
    matching: (filter) =>
      events
        .slice(-max)
        .reverse()
        .filter((event) => matches(event, filter)),
    counts: () => ({ kept: Math.min(events.length, max), seen, byChannel }),
    clear() {
      events = [];
      seen = 0;
      byChannel.clear();
    },
  };
}
