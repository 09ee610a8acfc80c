import { byId, definitions, make, say } from './dom.ts';
import { formatCount, formatCounts, formatDuration } from './format.ts';
import type { Overview } from './overview.ts';
import { type Counts, growth, total } from './series.ts';

type State = 'good' | 'bad' | 'unused';

/** Shows database, clock, relay, follower, upstreams and reached limits. Upstream failures count since `earlier`. */
export function showHealth(overview: Overview, earlier: Overview): void {
  byId('health').replaceChildren(
    part('Database', ...databaseOf(overview)),
    part('Clock', ...clockOf(overview)),
    part('Relay', ...relayOf(overview)),
    part('Follower', ...followerOf(overview)),
    part('Upstreams', ...upstreamsOf(overview, earlier)),
    part('Guessing', ...guessingOf(overview)),
    part('Accounts', ...accountsOf(overview)),
  );
  const limits = Object.entries(overview.limits).filter(([, count]) => count > 0);
  byId('limits-reached').replaceChildren(
    limits.length > 0
      ? definitions(limits.map(([name, count]) => [name, `${formatCount(count)} refused`]))
      : make('p', { class: 'empty' }, 'No limit has refused a request since the vault started.'),
  );
  say(byId('version'), overview.version);
}

function part(name: string, state: State, word: string, detail: string): HTMLElement {
  const badge = make('span', { class: `state ${state}` }, word);
  return make(
    'li',
    { 'data-part': name.toLowerCase() },
    make('h2', {}, name),
    badge,
    make('p', { class: 'detail' }, detail),
  );
}

function guessingOf({ guessing }: Overview): [State, string, string] {
  if (total(guessing) === 0) return ['good', 'none', 'Nobody made 20 wrong guesses in a row at one identifier.'];
  const detail = `${formatCounts(guessing)}: codes need a pass until one verifies (event code.guessing)`;
  return ['bad', 'seen', detail];
}

function accountsOf({ account_kinds: kinds }: Overview): [State, string, string] {
  if (kinds.length === 0) return ['unused', 'not offered', 'Set ACCOUNT_FACTORY_2_ADDRESS to offer accounts.'];
  const detail = kinds.map((kind) => KINDS[kind]).join(' · ');
  return ['good', 'offered', detail];
}

const KINDS: Readonly<Record<number, string>> = { 1: 'first kind: one key', 2: 'second kind: several keys' };

function databaseOf({ database }: Overview): [State, string, string] {
  const { used, max, waiting } = database.connections;
  const detail = [
    `${used} of ${max} connections in use`,
    `${formatCount(waiting)} waiting`,
    `${formatCount(failures(database.queries))} queries failed`,
  ];
  return [database.state === 'writable' ? 'good' : 'bad', database.state, detail.join(' · ')];
}

function clockOf({ clock }: Overview): [State, string, string] {
  if (clock.off_ms === 0) return ['good', 'ok', 'No other process on the database has another time.'];
  const off = `${formatDuration(Math.abs(clock.off_ms))} ${clock.off_ms > 0 ? 'ahead' : 'behind'}`;
  return ['bad', off, 'This process does no background work until its clock is set.'];
}

function relayOf({ relay, database }: Overview): [State, string, string] {
  if (!relay && database.state !== 'writable') return ['unused', 'unknown', UNKNOWN];
  if (!relay)
    return ['unused', 'not in use', 'Set REGISTRAR_PRIVATE_KEY to let the vault register DIDs on-chain itself.'];
  const balance = relay.balance === null ? 'balance not read yet' : `${relay.balance.toFixed(4)} ether`;
  const detail = [balance, formatCounts(relay.open) || 'nothing waiting'].join(' · ');
  return relay.trouble === null ? ['good', 'ok', detail] : ['bad', relay.trouble.replaceAll('_', ' '), detail];
}

function followerOf({ follower, database }: Overview): [State, string, string] {
  if (!follower && database.state !== 'writable') return ['unused', 'unknown', UNKNOWN];
  if (!follower) return ['unused', 'not in use', 'Set DID_REGISTRY_ADDRESS and RPC_URL to follow the registry.'];
  const detail = `block ${follower.block} · last read ${formatDuration(follower.silent_ms)} ago`;
  const word = follower.lag === 0 ? 'up to date' : `${formatCount(follower.lag)} blocks behind`;
  // A minute without a look is longer than any of its pauses.
  return [follower.silent_ms < 60_000 ? 'good' : 'bad', word, detail];
}

function upstreamsOf({ upstreams }: Overview, earlier: Overview): [State, string, string] {
  const named = Object.entries(upstreams);
  if (named.length === 0) return ['unused', 'not called yet', 'The vault has called no provider, node or indexer yet.'];
  const detail = named.map(([name, outcomes]) => `${name}: ${formatCounts(outcomes)}`).join(' · ');
  const failing = named.filter(([name, outcomes]) => failures(growth(earlier.upstreams[name] ?? {}, outcomes)) > 0);
  return failing.length === 0
    ? ['good', 'ok', detail]
    : ['bad', `failing: ${failing.map(([name]) => name).join(', ')}`, detail];
}

const UNKNOWN = 'The database does not answer.';

function failures(outcomes: Counts): number {
  return total(outcomes) - (outcomes['ok'] ?? 0);
}
