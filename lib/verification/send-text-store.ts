import {
  KEEP_SENDS_MAX,
  PASS_GUESSES_MAX,
  PASS_SENDS_MAX,
  PASS_SENDS_PER_IP_MAX,
  WRONG_GUESSES_MAX,
} from '../constants.ts';
import { fewerThan } from '../db/database.ts';
import { clearedAt } from '../limits/limits.ts';

/**
 * The grounds on which a send goes through: the limits alone, the client's live grant, the pass that the request
 * brought, or the passkey of the holder of an address that another DID claims.
 */
export type SendBy = 'nothing' | 'grant' | 'pass' | 'holder';

/**
 * The properties that decide a send's limits. A libSQL server compiles each text each time, so a text holds only its
 * own.
 */
export interface SendKind {
  readonly isSms: boolean;
  readonly by: SendBy;
}

/** A text with the names of its parameters. */
export interface SendText {
  readonly sql: string;
  readonly names: readonly string[];
}

/** The start of each limit's window: sends before the operator's clearing do not count. */
const IP_SINCE = `max(:day_ago, ${clearedAt('sends-per-ip', 'send.ip')})`;
const IDENTIFIER_SINCE = `max(:hour_ago, ${clearedAt('sends-per-identifier', 'send.identifier')})`;
const PASS_SINCE = `max(:hour_ago, ${clearedAt('pass-sends-per-identifier', 'send.identifier')})`;
const PASS_IP_SINCE = `max(:day_ago, ${clearedAt('pass-sends-per-ip', 'send.ip')})`;
const KEEP_SINCE = `max(:hour_ago, ${clearedAt('keep-sends-per-identifier', 'send.identifier')})`;
const NUMBER_SINCE = `max(:hour_ago, ${clearedAt('sends-per-number', 'send.identifier')})`;
const NUMBER_DAY_SINCE = `max(:day_ago, ${clearedAt('sends-per-number-day', 'send.identifier')})`;

/**
 * `by_pass` of two kinds of row: one that is not a send but holds the pass of a message without a code, and a send by a
 * holder's passkey. In other rows it is null, or the row whose pass let the send through.
 */
export const NO_CODE = 0;
const BY_HOLDER = -1;

/** The digest of a code that was never sent: no code has it. */
export const DEAD = 'dead';

/** The row whose pass lets a send through: that of the pass given, or of the client's live grant; null without one. */
export function byPass(by: 'grant' | 'pass'): string {
  return by === 'pass'
    ? `(SELECT seq FROM codes WHERE pass = send.given_pass AND identifier = send.identifier AND sent_at > :day_ago
        AND pass_guesses < ${PASS_GUESSES_MAX})`
    : `(SELECT passed.seq FROM pass_grants JOIN codes AS passed ON passed.seq = pass_grants.code
        WHERE pass_grants.identifier = send.identifier AND pass_grants.ip = send.ip AND pass_grants.until > :now
          AND passed.pass_guesses < ${PASS_GUESSES_MAX})`;
}

/** Whether so many wrong guesses were made at the identifier that a send needs a pass. */
const GUESSED = `EXISTS (SELECT 1 FROM verifications
  WHERE identifier = send.identifier AND wrong_guesses >= ${WRONG_GUESSES_MAX})`;

/** The key of a number names the channel. */
const OF_NUMBER = `FROM codes WHERE identifier = send.identifier AND (by_pass IS NULL OR by_pass > 0)`;

/** True while the limits of a send without a pass have room, and those of one with a pass. */
const IP_HAS_ROOM = fewerThan(
  ':per_ip',
  `FROM codes WHERE ip = send.ip AND by_pass IS NULL AND sent_at > ${IP_SINCE} ORDER BY seq DESC`,
);
const IDENTIFIER_HAS_ROOM = fewerThan(
  ':per_identifier',
  `FROM codes WHERE identifier = send.identifier AND by_pass IS NULL AND sent_at > ${IDENTIFIER_SINCE} ORDER BY seq DESC`,
);
const HAS_ROOM_BY_PASS = `${fewerThan(
  `${PASS_SENDS_MAX}`,
  `FROM codes WHERE identifier = send.identifier AND by_pass > 0 AND sent_at > ${PASS_SINCE} ORDER BY seq DESC`,
)} AND ${fewerThan(
  `${PASS_SENDS_PER_IP_MAX}`,
  `FROM codes WHERE ip = send.ip AND by_pass > 0 AND sent_at > ${PASS_IP_SINCE} ORDER BY seq DESC`,
)}`;
const NUMBER_HAS_ROOM = `${fewerThan(
  ':per_number',
  `${OF_NUMBER} AND sent_at > ${NUMBER_SINCE} ORDER BY seq DESC`,
)} AND ${fewerThan(':per_number_day', `${OF_NUMBER} AND sent_at > ${NUMBER_DAY_SINCE} ORDER BY seq DESC`)}`;

/** Sends of strangers do not count here, nor these sends for theirs. */
const OF_HOLDER = `FROM codes WHERE identifier = send.identifier AND by_pass = ${BY_HOLDER} AND sent_at > ${KEEP_SINCE}`;
const HOLDER_HAS_ROOM = fewerThan(`${KEEP_SENDS_MAX}`, `${OF_HOLDER} ORDER BY seq DESC`);

/** Some of a number's sends are kept for passes: strangers leave the owner a way in, whose text message has a pass. */
const NUMBER_HAS_FREE_ROOM = `${fewerThan(
  ':per_number_free',
  `${OF_NUMBER} AND by_pass IS NULL AND sent_at > ${NUMBER_SINCE} ORDER BY seq DESC`,
)} AND ${fewerThan(
  ':per_number_day_free',
  `${OF_NUMBER} AND by_pass IS NULL AND sent_at > ${NUMBER_DAY_SINCE} ORDER BY seq DESC`,
)}`;

/**
 * True of a send that may be written, unless a budget refuses. An invalid pass refuses, and so does a grant where the
 * send is asked for without: most clients have none, and their texts hold nothing of passes.
 */
function admits({ isSms, by }: SendKind): string {
  if (by === 'holder') return HOLDER_HAS_ROOM;
  const free = isSms ? IP_HAS_ROOM : `${IP_HAS_ROOM} AND ${IDENTIFIER_HAS_ROOM}`;
  const room =
    by === 'nothing' ? `${byPass('grant')} IS NULL AND ${free}` : `${byPass(by)} IS NOT NULL AND ${HAS_ROOM_BY_PASS}`;
  if (!isSms) return room;
  return `${room} AND ${NUMBER_HAS_ROOM}${by === 'nothing' ? ` AND ${NUMBER_HAS_FREE_ROOM}` : ''}`;
}

/** The columns that are inserted for each send, in the order of the lists in `:sends`. */
export const SEND_COLUMNS = [
  'id',
  'identifier',
  'purpose',
  'ip',
  'sent_at',
  'expires_at',
  'digest',
  'bound',
  'pass',
  'given_pass',
] as const;

const ASKED = `SELECT key AS place, ${SEND_COLUMNS.map((name, i) => `value ->> ${i} AS ${name}`).join(', ')}
  FROM json_each(:sends)`;

/**
 * The text that inserts those of some sends of a kind that have room; `room` are the budgets. No two of them share a
 * client or an identifier, so each finds its own limits as they are. `nth` counts those that pass them: the budget of
 * the whole vault goes to the first.
 */
export function insertText(kind: SendKind, room: string): SendText {
  const { by, isSms } = kind;
  const needsPass = `CASE WHEN digest IS NOT NULL AND ${GUESSED} THEN '${DEAD}' ELSE digest END`;
  const through = by === 'holder' ? `${BY_HOLDER}` : by === 'nothing' ? '' : byPass(by);
  return textOnce(
    `insert ${nameOf(kind)} ${room}`,
    () => `INSERT INTO codes
    (id, identifier, channel, purpose, ip, sent_at, expires_at, digest, bound, pass, by_pass)
  WITH asked AS MATERIALIZED (${ASKED}),
  send AS MATERIALIZED (SELECT *, row_number() OVER (ORDER BY place) AS nth FROM asked AS send WHERE ${admits(kind)})
  SELECT id, identifier, '${isSms ? 'sms' : 'email'}', purpose, ip, sent_at, expires_at,
    ${by === 'nothing' ? `${needsPass}, bound, pass, NULL` : `digest, bound, NULL, ${through}`} FROM send WHERE ${room} ORDER BY nth`,
  );
}

/** The text that reads the rows that were just inserted, and the limits that each filled. */
export function sentText(kind: SendKind): SendText {
  return textOnce(
    `sent ${nameOf(kind)}`,
    () => `SELECT id, seq, by_pass IS NOT NULL AS is_passed, digest = '${DEAD}' AS needs_pass, ${resets(kind)}
  FROM codes AS send WHERE seq > last_insert_rowid() - :count AND seq <= last_insert_rowid()`,
  );
}

/** The text that reads why a send of a kind was refused: the limits that are full, and whether there is a pass. */
export function refusalText(kind: SendKind): SendText {
  const pass = byPass(kind.by === 'pass' ? 'pass' : 'grant');
  return textOnce(
    `refusal ${nameOf(kind)}`,
    () => `SELECT ${pass} IS NOT NULL AS is_passed, ${resets(kind)}
  FROM (SELECT :ip AS ip, :identifier AS identifier, :given_pass AS given_pass) AS send`,
  );
}

/** For each limit of a kind the time of the send that must leave the window; null while the limit has room. */
function resets({ isSms, by }: SendKind): string {
  const nth = (from: string, max: string | number) =>
    `(SELECT sent_at ${from} ORDER BY seq DESC LIMIT 1 OFFSET ${max} - 1)`;
  if (by === 'holder') return `${nth(OF_HOLDER, KEEP_SENDS_MAX)} AS keep_at`;
  const isFree = by === 'nothing';
  /** The later one of both limits of a number: of all its sends, and of those without a pass. */
  const number = (since: string, max: string) => {
    const of = (and: string, most: string) =>
      `coalesce(${nth(`${OF_NUMBER}${and} AND sent_at > ${since}`, `:${most}`)}, 0)`;
    const all = of('', max);
    return `nullif(${isFree ? `max(${all}, ${of(' AND codes.by_pass IS NULL', `${max}_free`)})` : all}, 0)`;
  };
  const [byIp, byIdentifier] = ['FROM codes WHERE ip = send.ip', 'FROM codes WHERE identifier = send.identifier'];
  const free = `AND codes.by_pass IS NULL AND sent_at >`;
  const passed = `AND codes.by_pass > 0 AND sent_at >`;
  const columns = isFree
    ? [`${nth(`${byIp} ${free} ${IP_SINCE}`, ':per_ip')} AS ip_at`]
    : [
        `${nth(`${byIdentifier} ${passed} ${PASS_SINCE}`, PASS_SENDS_MAX)} AS pass_at`,
        `${nth(`${byIp} ${passed} ${PASS_IP_SINCE}`, PASS_SENDS_PER_IP_MAX)} AS pass_ip_at`,
      ];
  if (isFree && !isSms)
    columns.push(`${nth(`${byIdentifier} ${free} ${IDENTIFIER_SINCE}`, ':per_identifier')} AS identifier_at`);
  if (isSms)
    columns.push(
      `${number(NUMBER_SINCE, 'per_number')} AS number_at`,
      `${number(NUMBER_DAY_SINCE, 'per_number_day')} AS number_day_at`,
    );
  return columns.join(',\n  ');
}

function nameOf({ isSms, by }: SendKind): string {
  return `${isSms ? 'sms' : 'email'} by ${by}`;
}

// The engine finds a statement by its text, and there is one for each kind and each set of budgets.
const texts = new Map<string, SendText>();

function textOnce(name: string, build: () => string): SendText {
  const known = texts.get(name);
  if (known) return known;
  const sql = build();
  const text = { sql, names: [...new Set(Array.from(sql.matchAll(/:([a-z_]+)/g), ([, found = '']) => found))] };
  texts.set(name, text);
  return text;
}
