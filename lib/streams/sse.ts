// Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html
import { utf8 } from '../base/bytes.ts';
import { eventJson, type StoredEvent } from '../events/catalogue.ts';

/** How long the client of a superseded stream waits before it reconnects. */
const STREAM_SUPERSEDED_RETRY_MS = 600_000;

/** An encoded event, shared by all streams that send it. */
export interface Frame {
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The frame of a stored event: `id`, `event` and its JSON as `data`. */
export function eventFrame(event: StoredEvent): Frame {
  return { id: event.id, bytes: utf8(`id: ${event.id}\nevent: ${event.type}\ndata: ${eventJson(event)}\n\n`) };
}

/**
 * The first frame. It holds no event, only the id from which a client resumes if it is cut off before the first event.
 */
export function openFrame(id: number): Uint8Array<ArrayBuffer> {
  return utf8(`: vault events\nid: ${id}\n\n`);
}

/** A frame about the stream itself. It has no id: the client's last id must stay that of the last event it received. */
export function controlFrame(name: StreamNotice, data: string | number): Uint8Array<ArrayBuffer> {
  const retry = name === 'superseded' ? `retry: ${STREAM_SUPERSEDED_RETRY_MS}\n` : '';
  return utf8(`event: ${name}\n${retry}data: ${data}\n\n`);
}

/** The event names of control frames. */
export type StreamNotice = 'rewind-required' | 'token-expired' | 'token-revoked' | 'superseded';

/** A comment line, so that idle connections are not closed. */
export const HEARTBEAT_FRAME = utf8(': heartbeat\n\n');

/** The only frame of a stream that cannot be served now: after an error status a browser would not reconnect. */
export function retryFrame(ms: number): Uint8Array<ArrayBuffer> {
  return utf8(`retry: ${ms}\n\n`);
}
