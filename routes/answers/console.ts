import * as v from 'valibot';
import { about, Count, ReadBlock, Time, Whole, words } from './common.ts';
import { SigningKey } from './console-apps.ts';

/** A token of the event stream. */
export const StreamToken = v.object({ token: v.string(), expires_at: Time, cid: v.string() });

/** A token or a delegation is revoked. */
export const TokenRevoked = v.object({
  ok: v.literal(true),
  cid: v.string(),
  revoked: about(v.boolean(), 'False if it was revoked before'),
});

const signer = about(v.nullable(v.string()), 'The address of its account; null without the key');

/** The vault's keys by their public parts. */
export const ConsoleKeys = v.object({
  registrar_did: about(v.string(), 'The issuer of attestations and credentials'),
  operator_did: about(v.string(), 'The did:key that signs tokens of the console'),
  attestation_keys: about(Count, 'Keys that attestations are accepted by; the first of them signs'),
  registrar: signer,
  guardian: signer,
  credential_keys: about(v.array(SigningKey), 'Of credentials, the newest first; none before one was asked for'),
  stream_tokens: about(
    v.array(v.object({ cid: v.string(), expires_at: Time })),
    'Tokens that have opened a stream and are good, the newest first, at most 100',
  ),
});

/** The requests refused in the last hour, by error and route. */
export const Refusals = v.object({
  since: Time,
  refusals: about(
    v.array(
      v.object({
        error: v.string(),
        status: about(Count, '0 for the word of another release'),
        cause: about(v.string(), 'The meaning of the word'),
        route: about(v.string(), "The route's path; `unknown` where there is none"),
        count: Count,
      }),
    ),
    'By word and route, the most frequent first, without the callers',
  ),
});

/** The settings in force. */
export const SettingsInForce = v.object({
  settings: about(
    v.array(
      v.object({
        name: v.string(),
        value: about(
          v.nullable(v.string()),
          'Secrets are `(secret)`, of a URL that may hold a key the origin is shown',
        ),
        default: about(v.nullable(v.string()), 'As a value or in words; null for none'),
        changed: v.boolean(),
        meaning: v.string(),
      }),
    ),
    'Settings that differ from their defaults first',
  ),
});

const key = about(v.string(), 'A client, an identifier (masked unless searched by), or empty for the whole vault');

/** How full the stored limits are. */
export const LimitUses = v.object({
  kinds: v.array(v.string()),
  limits: v.array(
    v.object({
      kind: v.string(),
      key,
      max: Count,
      used: Count,
      reached: v.boolean(),
      window_seconds: Count,
      resets_at: about(v.nullable(Time), 'When the oldest use expires'),
    }),
  ),
});

/** A limit was freed. */
export const LimitCleared = v.object({ ok: v.literal(true), kind: v.string(), key, cleared: Count });

const counts = about(v.record(v.string(), v.number()), 'Counts by outcome');

const Channel = v.object({ provider: v.string(), messages: counts });

/** The state of the answering process. */
export const Overview = v.object({
  at: Time,
  version: v.string(),
  client: about(v.string(), 'Your address as the vault sees it'),
  live: v.boolean(),
  apps: v.array(v.string()),
  account_kinds: v.array(Count),
  events: v.object({
    types: v.array(v.string()),
    channels: v.array(v.string()),
    first_id: Count,
    last_id: Count,
  }),
  counters: v.object({
    requests: counts,
    sends: counts,
    verifications: counts,
    sessions: counts,
    registrations: counts,
  }),
  latency: v.array(v.object({ le: v.nullable(v.number()), count: Count })),
  limits: counts,
  guessing: counts,
  upstreams: v.record(v.string(), counts),
  delivery: v.object({ email: Channel, sms: Channel }),
  calls: about(
    v.record(
      v.string(),
      v.object({ ok_at: v.nullable(Time), failed_at: v.nullable(Time), fault: v.nullable(v.string()) }),
    ),
    'When each upstream, `email` and `sms` last answered this process and last failed, and why',
  ),
  configured: about(
    v.object({
      registry: v.boolean(),
      indexer: v.boolean(),
      follower: v.boolean(),
      relay: v.boolean(),
      webhooks: v.boolean(),
    }),
    'The parts that the settings turn on, whether they work or not',
  ),
  database: v.object({
    state: v.picklist(['writable', 'unavailable', 'stalled', 'damaged']),
    queries: counts,
    connections: v.object({ used: Count, max: Count, waiting: Count }),
    log: about(
      v.nullable(v.object({ bytes: Count, checkpoint_age_ms: v.nullable(Count) })),
      'The write-ahead log of an embedded database, and for how long not all of it was in the file',
    ),
  }),
  doctor: about(
    v.nullable(v.object({ checked_at: Time, failures: Count, failing: v.array(v.string()), warnings: Count })),
    'The checks of `GET /v1/console/doctor` that failed when this process last made them; null before that',
  ),
  backup: about(
    v.nullable(
      v.object({
        made_at: v.nullable(Time),
        bytes: v.nullable(Count),
        place: v.nullable(v.string()),
        due: v.boolean(),
      }),
    ),
    'The newest backup that is known; `due` if it is older than 36 hours, or none is known of a vault with registrations',
  ),
  clock: v.object({ off_ms: v.number() }),
  relay: v.nullable(v.object({ trouble: v.nullable(v.string()), balance: v.nullable(v.number()), open: counts })),
  follower: v.nullable(v.object({ block: ReadBlock, lag: Count, silent_ms: Whole })),
});

const counted = v.nullable(Count);
const milliseconds = about(v.nullable(v.number()), 'Null too when nothing was answered');

/** The activity of all processes in the last hour or day. */
export const Activity = v.object({
  range: v.picklist(['hour', 'day']),
  step_seconds: Count,
  points: about(
    v.array(
      v.object({
        at: Time,
        requests: counted,
        errors: counted,
        sends: counted,
        verifications: counted,
        registrations: counted,
        p50_ms: milliseconds,
        p95_ms: milliseconds,
      }),
    ),
    'The oldest step first; null where no process is known to have run',
  ),
  totals: about(counts, 'The sums over all steps, by `<counter>.<outcome>`'),
});

/** A webhook and its outcome. */
export const Delivery = v.object({
  id: Count,
  webhook: v.string(),
  type: v.string(),
  app: v.string(),
  channel: v.string(),
  at: Time,
  data: about(v.looseObject({}), "The event's own members"),
  status: v.picklist(['queued', 'delivered', 'dead']),
  attempts: Count,
  next_attempt_at: v.nullable(Time),
  last_status: v.nullable(Count),
  last_error: v.nullable(v.string()),
});

/** Webhooks, the newest first. */
export const Deliveries = v.object({ webhooks: v.array(Delivery) });

/** A dead webhook is sent again. */
export const DeliveryResent = v.object({ ok: v.literal(true), webhook: Delivery });

/** A mail and its text message, with made-up values. */
export const MessagePreview = v.object({
  messages: about(v.array(v.string()), 'The values of `message`'),
  languages: about(v.array(v.string()), 'The languages of mails, the default first'),
  apps: v.array(v.string()),
  message: v.string(),
  lang: v.string(),
  app: v.string(),
  mail: v.object({ subject: v.string(), text: v.string(), html: v.string() }),
  sms: about(
    v.nullable(v.object({ text: v.string(), alphabet: v.picklist(['GSM', 'UCS-2']), units: Count, segments: Count })),
    'Null for messages not sent by SMS, or where the provider writes its own text',
  ),
});

const invite = v.object({
  id: Count,
  status: words('live', 'used', 'expired', 'revoked'),
  uses: about(Count, 'How many identifiers it lets in'),
  used: Count,
  identifier: about(v.nullable(v.string()), 'The identifier that may use it, masked; null for anybody'),
  app: about(v.nullable(v.string()), 'Null is any app'),
  created_at: Time,
  expires_at: Time,
});

/** Invites, the newest first. */
export const Invites = v.object({ registration: words('open', 'invite', 'closed'), invites: v.array(invite) });

/** An invite was made. */
export const InviteCreated = v.object({
  ok: v.literal(true),
  token: about(v.string(), 'Shown this once'),
  invite,
});

/** An invite was revoked. */
export const InviteRevoked = v.object({ ok: v.literal(true), invite });
