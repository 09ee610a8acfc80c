import { isoTime } from '../base/clock.ts';
import { OPERATOR_EVENTS } from './operator-events.ts';
import { PERSON_EVENTS } from './person-events.ts';
import { RECOVERY_EVENTS } from './recovery-events.ts';
import { REGISTRATION_EVENTS } from './registration-events.ts';

/** The channels of events; a stream may be limited to some of them. */
export const EVENT_CHANNELS = ['audit', 'sessions', 'credentials', 'payments', 'webhooks'] as const;

/** One of `EVENT_CHANNELS`. */
export type EventChannel = (typeof EVENT_CHANNELS)[number];

/** The app of requests and events that name none. */
export const DEFAULT_APP = 'default';

/** In place of an app's name: the stream of all apps. No app can be called so. */
export const ALL_APPS = '*';

/**
 * The event catalogue: channel, description and data of each type. Identifiers, clients and credential ids are masked;
 * no event contains a code, a token or a secret. A test compares it with `docs/events.md`.
 */
export const EVENTS = {
  'code.sent': {
    channel: 'audit',
    description: 'a send was spent and its code handed to the provider',
    data: ['channel', 'identifier'],
  },
  'code.undelivered': {
    channel: 'audit',
    description: 'the provider refused a code that was sent',
    data: ['channel', 'identifier'],
  },
  'code.verified': {
    channel: 'audit',
    description: 'the right code was given, or a token that shows the address',
    data: ['channel', 'identifier', 'by'],
  },
  'code.exhausted': {
    channel: 'audit',
    description: 'a code took its last wrong guess',
    data: ['channel', 'identifier'],
  },
  'code.guessing': {
    channel: 'audit',
    description:
      '20 wrong guesses in a row: codes of the identifier now need a pass, until one verifies, or for a day without a wrong one',
    data: ['channel', 'identifier'],
  },
  'limit.reached': {
    channel: 'audit',
    description: 'a limit refused; at most once per bucket and window',
    data: ['limit', 'max', 'window_seconds', 'bucket'],
  },
  'budget.reached': {
    channel: 'audit',
    description: '50, 80 or 100 percent of a daily budget are used; at most once a day each',
    data: ['budget', 'percent', 'used', 'max'],
  },
  'operator.refused': {
    channel: 'audit',
    description:
      'an operator route was called without the right secret, or by an operator whose role does not reach; at most once per network and minute',
    data: ['client'],
  },
  'client.refused': {
    channel: 'audit',
    description: 'an app sent a wrong secret to /token; at most once per app and minute',
    data: ['network'],
  },
  'token.minted': {
    channel: 'audit',
    description: 'a token of the event stream was issued, and renews none that was still good',
    data: ['cid', 'app', 'channel', 'expires_at'],
  },
  'token.revoked': {
    channel: 'audit',
    description: 'a token, or a link of its chain, was revoked',
    data: ['cid'],
  },
  'signin.counter_back': {
    channel: 'audit',
    description: 'a passkey signed in with a signature counter that is not above its last one: it may have been copied',
    data: ['did', 'credential', 'counter', 'previous'],
  },
  'message.tested': {
    channel: 'audit',
    description: 'the operator had a test message sent from the console',
    data: ['channel', 'identifier'],
  },
  ...OPERATOR_EVENTS,
  'key.rotated': {
    channel: 'audit',
    description: 'a key of the vault was replaced',
    data: ['key'],
  },
  ...PERSON_EVENTS,
  'signin.succeeded': {
    channel: 'audit',
    description: 'a passkey signed in at an app, or signed up',
    data: ['did', 'credential', 'network'],
  },
  'passkey.first_used': {
    channel: 'audit',
    description: 'a passkey that is new to an account signed in or registered something (`by`): mails say so',
    data: ['did', 'credential', 'by'],
  },
  'signin.refused': {
    channel: 'audit',
    description: 'a sign-in with a registered credential was refused; at most once per credential and minute',
    data: ['did', 'credential', 'network', 'reason'],
  },
  'credential.issued': {
    channel: 'credentials',
    description: 'a credential of a proven address was issued, `by` a code or the passkey of its DID',
    data: ['identifier', 'channel', 'did', 'by'],
  },
  'session.created': {
    channel: 'sessions',
    description: 'a registration session was opened',
    data: ['identifier', 'channel', 'did'],
  },
  'session.linked': {
    channel: 'sessions',
    description: 'its DID is registered; it no longer lapses',
    data: ['identifier', 'channel', 'did'],
  },
  'session.unlinked': {
    channel: 'sessions',
    description: 'a re-org took its registration back, or that failed',
    data: ['identifier', 'channel', 'did'],
  },
  'session.lapsed': {
    channel: 'sessions',
    description: 'it ended without a DID and is removed',
    data: ['identifier', 'channel', 'did'],
  },
  'session.taken_over': {
    channel: 'sessions',
    description: 'the DID that the identifier is proven for, or its alias leads to, replaced another',
    data: ['identifier', 'channel', 'did', 'previous_did'],
  },
  ...REGISTRATION_EVENTS,
  'did.deactivated': {
    channel: 'credentials',
    description: 'the follower read that a DID was deactivated on-chain',
    data: ['did_hash', 'tx_hash', 'block'],
  },
  ...RECOVERY_EVENTS,
  'payment.settled': {
    channel: 'payments',
    description: 'a final block shows that a payment moved exactly this',
    data: ['account', 'to', 'token', 'amount', 'chain_id', 'user_op_hash', 'tx_hash', 'block', 'nonce'],
  },
  'webhook.delivered': {
    channel: 'webhooks',
    description: 'the receiver took a webhook',
    data: ['webhook', 'event', 'event_type', 'attempt', 'status'],
  },
  'webhook.failed': {
    channel: 'webhooks',
    description: 'an attempt failed and another follows',
    data: ['webhook', 'event', 'event_type', 'attempt', 'status', 'reason'],
  },
  'webhook.dead': {
    channel: 'webhooks',
    description: 'the last attempt failed',
    data: ['webhook', 'event', 'event_type', 'attempt', 'status', 'reason'],
  },
  'webhook.resent': {
    channel: 'webhooks',
    description: 'the operator had it sent again',
    data: ['webhook', 'event', 'event_type'],
  },
} as const satisfies Record<string, Kind>;

/** The name of an event. */
export type EventType = keyof typeof EVENTS;

/** The `data` of a type: every member of its entry, null if it has no value. */
export type EventData<T extends EventType> = Readonly<
  Record<(typeof EVENTS)[T]['data'][number], string | number | null>
>;

/** An event to write; `at` in milliseconds. */
export interface NewEvent {
  readonly type: EventType;
  readonly app: string;
  readonly at: number;
  readonly data: Readonly<Record<string, string | number | null>>;
}

/** A row of `events`; `at` in milliseconds, `data` as JSON text, `operator` the name of the operator who acted. */
export interface StoredEvent {
  readonly id: number;
  readonly app: string;
  readonly channel: string;
  readonly type: string;
  readonly at: number;
  readonly data: string;
  readonly operator?: string | null;
}

/** The ids of the oldest and the newest stored event; `oldest` is `newest + 1` if all are deleted. */
export interface EventSpan {
  readonly oldest: number;
  readonly newest: number;
}

/** An event with the data that the catalogue requires of its type. */
export function eventOf<T extends EventType>(
  type: T,
  { app, at }: { readonly app: string; readonly at: number },
  data: EventData<T>,
): NewEvent {
  return { type, app, at, data };
}

/** The JSON of an event as streams and exports show it. */
export function eventJson({ id, app, channel, type, at, data, operator = null }: StoredEvent): string {
  const head = JSON.stringify({ id, app, channel, type, at: isoTime(at), ...(operator === null ? {} : { operator }) });
  // The data is JSON already, and need not be parsed for every subscriber.
  return `${head.slice(0, -1)},"data":${data}}`;
}

/** A client's key as events show it: without the end of the address or network. */
export function maskClient(client: string): string {
  if (client.includes('.')) return client.replace(/\.\d+$/, '.***');
  return client.includes(':') ? `${client.split(':').slice(0, 2).join(':')}:***` : client;
}

/** A credential id as events show it: its first six characters. */
export function maskCredential(credentialId: string): string {
  return `${credentialId.slice(0, 6)}***`;
}

interface Kind {
  readonly channel: EventChannel;
  readonly description: string;
  readonly data: readonly string[];
}
