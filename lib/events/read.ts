import type { Store } from '../db/database.ts';
import type { EventSpan, StoredEvent } from './catalogue.ts';
import { type EventsQuery, selectEventSpan, selectEventsAfter, selectEventsOf, toEvent } from './store.ts';

export { toEvent } from './store.ts';

type Reader = Pick<Store, 'read'>;

/** The ids of the oldest stored event and of the newest event ever written; both 0 if there never was one. */
export async function readEventSpan(db: Reader): Promise<EventSpan> {
  const [span] = await db.read(selectEventSpan());
  return { oldest: Number(span?.['oldest'] ?? 0), newest: Number(span?.['newest'] ?? 0) };
}

/** Up to `limit` events of all apps after an id, oldest first. */
export async function readEventsAfter(db: Reader, id: number, limit: number): Promise<readonly StoredEvent[]> {
  return (await db.read(selectEventsAfter(id, limit))).map(toEvent);
}

/** Up to `limit` events that a query asks for, oldest first. */
export async function readEventsOf(db: Reader, query: EventsQuery, limit: number): Promise<readonly StoredEvent[]> {
  return (await db.read(selectEventsOf(query, limit))).map(toEvent);
}
