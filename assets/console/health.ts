import { byId, definitions, make, say } from './dom.ts';
import { formatCount, formatCounts, formatDuration } from './format.ts';
import { limitWords } from './limit-names.ts';
import type { CallTimes, Overview } from './overview.ts';
import { type Counts, total } from './series.ts';

/** `unused` is switched off, `quiet` has nothing to say yet. Never shown by colour alone: `word` says it. */
type State = 'good' | 'warn' | 'bad' | 'unused' | 'quiet';

/** A part of the vault, or something outside that it needs, and how it is. */
export interface Part {
  readonly name: string;
  readonly state: State;
  readonly word: string;
  /** One line each. */
  readonly details: readonly string[];
}

/** Every part as the overview has it. */
export function readHealth(overview: Overview): readonly Part[] {
  return [
    databaseOf(overview),
    backupOf(overview),
    deliveryOf(overview, 'email'),
    deliveryOf(overview, 'sms'),
    relayOf(overview),
    followerOf(overview),
    upstreamsOf(overview),
    clockOf(overview),
    guessingOf(overview),
    accountsOf(overview),
  ];
}

/** Shows the parts, failures first, and the limits that have refused. */
export function showHealth(overview: Overview): void {
  const parts = readHealth(overview).toSorted((a, b) => RANK.indexOf(a.state) - RANK.indexOf(b.state));
  byId('health').replaceChildren(...parts.map(cardOf));
  showSummary(parts, overview.doctor?.failing ?? []);
  const limits = Object.entries(overview.limits).filter(([, count]) => count > 0);
  byId('limits-reached').replaceChildren(
    limits.length > 0
      ? definitions(limits.map(([name, count]) => [limitWords(name), `${formatCount(count)} refused`]))
      : make('p', { class: 'empty' }, 'No limit has refused a request since the vault started.'),
  );
  say(byId('version'), overview.version);
}

/** One line on the overview: the failures of the parts, and of the doctor's checks, each with the way to it. */
function showSummary(parts: readonly Part[], checks: readonly string[]): void {
  const bad = parts.filter(({ state }) => state === 'bad').map(({ name }) => name);
  const faults = [
    ...(bad.length === 0 ? [] : [['#/health', `Failing: ${bad.join(', ')}`] as const]),
    ...(checks.length === 0 ? [] : [['#/doctor', `Doctor: ${checks.join(', ')}`] as const]),
  ];
  if (byId('summary').dataset['faults'] === String(faults)) return;
  byId('summary').dataset['faults'] = String(faults);
  byId('summary').replaceChildren(
    ...(faults.length === 0
      ? [make('span', { class: 'state good' }, 'Nothing fails')]
      : faults.map(([href, words]) => make('a', { href }, make('span', { class: 'state bad' }, words)))),
  );
}

const RANK: readonly State[] = ['bad', 'warn', 'good', 'quiet', 'unused'];

function cardOf({ name, state, word, details }: Part): HTMLElement {
  return make(
    'li',
    { 'data-part': name.toLowerCase(), 'data-state': state },
    make('h2', {}, name),
    make('p', { class: `state ${state}` }, word),
    ...details.map((detail) => make('p', { class: 'detail' }, detail)),
  );
}

function databaseOf({ database }: Overview): Part {
  const { used, max, waiting } = database.connections;
  const { bytes, checkpoint_age_ms: age } = database.log ?? { bytes: 0, checkpoint_age_ms: null };
  const isLate = bytes > LOG_BYTES_MAX || (age ?? 0) > CHECKPOINT_AGE_MS_MAX;
  const details = [
    `${used} of ${max} connections in use, ${formatCount(waiting)} requests waiting`,
    `${formatCount(failures(database.queries))} queries failed since the start`,
    ...(isLate
      ? [`Its log has ${formatCount(bytes / 1e6)} MB${age === null ? '' : `, and was last in the file ${agoOf(age)}`}.`]
      : []),
  ];
  if (database.state !== 'writable') return { name: 'Database', state: 'bad', word: database.state, details };
  return isLate
    ? { name: 'Database', state: 'warn', word: 'its log grows', details }
    : { name: 'Database', state: 'good', word: database.state, details };
}

/** As the alert VaultDatabaseLogGrows has them. */
const LOG_BYTES_MAX = 64 * 1024 * 1024;
const CHECKPOINT_AGE_MS_MAX = 300_000;

function backupOf({ at, backup }: Overview): Part {
  const name = 'Backup';
  if (!backup) return { name, state: 'warn', word: 'unknown', details: [UNKNOWN] };
  const { made_at, bytes, place, due } = backup;
  if (made_at === null)
    return due
      ? { name, state: 'warn', word: 'none is known', details: ['Make one: vault backup. Its help has the ways.'] }
      : { name, state: 'quiet', word: 'none yet', details: ['Nobody has registered yet.'] };
  const details = [
    `Last backup ${agoOf(Date.parse(at) - Date.parse(made_at))}, to ${place}.`,
    `${formatCount((bytes ?? 0) / 1e6)} MB.`,
  ];
  return due ? { name, state: 'warn', word: 'old', details } : { name, state: 'good', word: 'ok', details };
}

const CHANNELS = {
  email: { name: 'Mail', setting: 'EMAIL_PROVIDER', one: 'mail' },
  sms: { name: 'SMS', setting: 'SMS_PROVIDER', one: 'text message' },
} as const;

function deliveryOf({ at, delivery, calls }: Overview, channel: keyof typeof CHANNELS): Part {
  const { provider, messages } = delivery[channel];
  const { name, setting, one } = CHANNELS[channel];
  if (provider === 'none') return { name, state: 'unused', word: 'not in use', details: [`${setting} is none.`] };
  const call = calls[channel];
  const [accepted, failed] = [formatCount(messages['accepted'] ?? 0), formatCount(messages['failed'] ?? 0)];
  if (provider === 'log') {
    const details = [`Codes are printed to the log: ${accepted} since the start. Set ${setting} to send them.`];
    return { name, state: 'warn', word: 'nothing is sent', details };
  }
  if (!call) return { name, state: 'quiet', word: 'nothing sent yet', details: [`By ${provider}.`] };
  const details = [`By ${provider}: ${accepted} accepted, ${failed} failed since the start.`, ...timesOf(call, at)];
  return isFailing(call)
    ? { name, state: 'bad', word: `the last ${one} failed`, details }
    : { name, state: 'good', word: 'ok', details };
}

function relayOf({ at, relay, database, configured, calls }: Overview): Part {
  const name = 'Relay';
  if (!configured.relay)
    return {
      name,
      state: 'unused',
      word: 'not in use',
      details: ['Set REGISTRAR_PRIVATE_KEY to register DIDs on-chain.'],
    };
  if (!relay || database.state !== 'writable') return { name, state: 'warn', word: 'unknown', details: [UNKNOWN] };
  const balance = relay.balance === null ? 'The balance is not read yet' : `${relay.balance.toFixed(4)} ether left`;
  const details = [`${balance}, ${formatCounts(relay.open) || 'nothing waiting'}.`];
  if (relay.trouble !== null) return { name, state: 'bad', word: relay.trouble.replaceAll('_', ' '), details };
  return relay.balance === null && isFailing(calls['rpc'])
    ? { name, state: 'bad', word: 'the node does not answer', details: [...details, ...timesOf(calls['rpc'], at)] }
    : { name, state: 'good', word: 'ok', details };
}

function followerOf({ at, follower, database, configured, calls }: Overview): Part {
  const name = 'Follower';
  if (!configured.follower) return { name, state: 'unused', word: 'not in use', details: [whyNoFollower(configured)] };
  if (database.state !== 'writable') return { name, state: 'warn', word: 'unknown', details: [UNKNOWN] };
  const node = isFailing(calls['rpc']) ? timesOf(calls['rpc'], at) : [];
  if (!follower && node.length > 0)
    return { name, state: 'bad', word: 'the node does not answer', details: ['It has read nothing yet.', ...node] };
  if (!follower) return { name, state: 'quiet', word: 'starting', details: ['It has read nothing yet.'] };
  const details = [`Block ${formatCount(follower.block)}, last read ${agoOf(follower.silent_ms)}.`, ...node];
  // A minute without a look is longer than any of its pauses.
  if (follower.silent_ms >= 60_000) return { name, state: 'bad', word: 'has stopped reading', details };
  return {
    name,
    state: 'good',
    word: follower.lag === 0 ? 'up to date' : `${formatCount(follower.lag)} blocks behind`,
    details,
  };
}

function whyNoFollower({ registry, indexer }: Overview['configured']): string {
  if (!registry) return 'Set DID_REGISTRY_ADDRESS and RPC_URL to follow the registry.';
  return indexer ? 'INDEXER_URL answers in its place.' : 'Set RPC_URL to a node of your own to follow the registry.';
}

function upstreamsOf({ at, upstreams, calls }: Overview): Part {
  const name = 'Upstreams';
  const named = Object.entries(upstreams);
  if (named.length === 0)
    return { name, state: 'quiet', word: 'not called yet', details: ['No provider, node or indexer was called yet.'] };
  const failing = named.map(([one]) => one).filter((one) => isFailing(calls[one]));
  const details = named.flatMap(([one, outcomes]) => {
    const call = calls[one];
    return [`${one}: ${formatCounts(outcomes)}`, ...(isFailing(call) ? timesOf(call, at) : [])];
  });
  return failing.length === 0
    ? { name, state: 'good', word: 'ok', details }
    : { name, state: 'bad', word: `failing: ${failing.join(', ')}`, details };
}

function clockOf({ clock }: Overview): Part {
  const name = 'Clock';
  if (clock.off_ms === 0)
    return { name, state: 'good', word: 'ok', details: ['It is not the wrong one of process, database and chain.'] };
  const word = `${formatDuration(Math.abs(clock.off_ms))} ${clock.off_ms > 0 ? 'ahead' : 'behind'}`;
  return { name, state: 'bad', word, details: ['This process does no background work until its clock is set.'] };
}

function guessingOf({ guessing }: Overview): Part {
  const name = 'Guessing';
  if (total(guessing) === 0)
    return { name, state: 'good', word: 'none', details: ['Nobody made 20 wrong guesses in a row at one identifier.'] };
  return {
    name,
    state: 'bad',
    word: 'seen',
    details: [
      `${formatCounts(guessing)}: codes need a pass until one verifies, or for a day without a wrong one (event code.guessing).`,
    ],
  };
}

function accountsOf({ account_kinds: kinds }: Overview): Part {
  const name = 'Accounts';
  if (kinds.length === 0)
    return {
      name,
      state: 'unused',
      word: 'not offered',
      details: ['Set ACCOUNT_FACTORY_2_ADDRESS to offer accounts.'],
    };
  return { name, state: 'good', word: 'offered', details: kinds.map((kind) => KINDS[kind] ?? `kind ${kind}`) };
}

const KINDS: Readonly<Record<number, string>> = { 1: 'With one passkey.', 2: 'With several passkeys, and recovery.' };

const UNKNOWN = 'The database does not answer.';

/** Whether the newest call failed. */
function isFailing(call: CallTimes | undefined): call is CallTimes {
  return call?.failed_at != null && (call.ok_at === null || call.failed_at > call.ok_at);
}

function timesOf({ ok_at, failed_at, fault }: CallTimes, at: string): readonly string[] {
  const ago = (then: string) => agoOf(Date.parse(at) - Date.parse(then));
  return [
    ...(failed_at === null ? [] : [`Last failure ${ago(failed_at)}: ${fault ?? 'unknown'}.`]),
    ok_at === null ? 'None has worked since the start.' : `Last worked ${ago(ok_at)}.`,
  ];
}

function failures(outcomes: Counts): number {
  return total(outcomes) - (outcomes['ok'] ?? 0);
}

function agoOf(ms: number): string {
  return ms < 1_000 ? 'just now' : `${formatDuration(ms)} ago`;
}
