import { utf8 } from '../base/bytes.ts';
import { eventJson, type StoredEvent } from '../events/catalogue.ts';

/** When a client may come back whose stream a newer one superseded. */
const STREAM_SUPERSEDED_RETRY_MS = 600_000;

// Frames of an event stream: https://html.spec.whatwg.org/multipage/server-sent-events.html

/** An event as bytes, made once for all who get it. */
export interface Frame {
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** An event's frame. */
export function frameOf(event: StoredEvent): Frame {
  return { id: event.id, bytes: utf8(`id: ${event.id}\nevent: ${event.type}\ndata: ${eventJson(event)}\n\n`) };
}

/** The first frame: no event, but the id from which a client resumes that is cut off before its first event. */
export function openFrame(id: number): Uint8Array<ArrayBuffer> {
  return utf8(`: vault events\nid: ${id}\n\n`);
}

/** A frame of the stream itself. It has no id, since a client's own must stay that of the last event it was shown. */
export function controlFrame(name: StreamNotice, data: string | number): Uint8Array<ArrayBuffer> {
  const retry = name === 'superseded' ? `retry: ${STREAM_SUPERSEDED_RETRY_MS}\n` : '';
  return utf8(`event: ${name}\n${retry}data: ${data}\n\n`);
}

/** What a stream says of itself. */
export type StreamNotice = 'rewind-required' | 'token-expired' | 'token-revoked' | 'superseded';

/** A comment that keeps the connection from being taken for dead. */
export const HEARTBEAT_FRAME = utf8(': heartbeat\n\n');

/** All that a stream says that cannot be served now: an error status would make a browser give up for good. */
export function retryFrame(ms: number): Uint8Array<ArrayBuffer> {
  return utf8(`retry: ${ms}\n\n`);
}
