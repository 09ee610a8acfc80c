import { DAY_MS } from '../base/clock.ts';
import type { LimitState } from '../base/error.ts';
import { PASS_SENDS_PER_IP_MAX } from '../constants.ts';
import type { Condition, Row, Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import {
  hasRoom,
  readReset,
  refundBudget,
  roomArgs,
  type Spending,
  selectBudgets,
  spendBudgetIfChanged,
} from './budget-store.ts';
import { type BudgetLimit, boundsOf, limitOf } from './catalogue.ts';
import { limitState } from './limits.ts';
import { sharingNetwork } from './networks.ts';

type Config = Platform['config'];

/** One use that counts against daily budgets. The write that it belongs to enforces them. */
export interface BudgetUse {
  /** True while every budget has room: part of the condition of the write. For a send, over its row `send`. */
  readonly room: Condition;
  /** Counts the use if the statement before these in the batch changed a row; of sends as many as it inserted. */
  readonly spend: readonly Statement[];
  /** Whether it counts for a network, too. */
  readonly hasShare: boolean;
  /** Behind `spend` in the batch: the state of the budgets, no row unless the write was refused. */
  readonly resets: Statement;
  /** The same at any time, to be read alone. */
  readonly state: Statement;
  /** The full budgets, from the row of `resets` or `state`. */
  full(row: Row | undefined): readonly LimitState[];
  /** Takes the use back if the condition holds: it has cost nothing. */
  refund(when: Condition): readonly Statement[];
}

/** A code to send, as budgets see it. */
export interface SendUse {
  readonly channel: string;
  /** The client's key. */
  readonly client: string;
  readonly now: number;
  /** True if the identifier never verified and no pass asked: for the write, and for the statements after it. */
  readonly isStranger: { readonly before: Condition; readonly after: Condition };
}

/** SQL over a row of the sends that one statement writes: how many of them come before it. */
const EARLIER_SENDS = 'send.nth - 1';

/**
 * The budgets of one send: the whole vault's, the network's share of it, and for an IPv6 network its sends to
 * strangers. The share is skipped for a client whose network has none. It is also skipped for an IPv4 address that may
 * send less than the share, with passes and without.
 */
export function useForSend(config: Config, { channel, client, now, isStranger }: SendUse): BudgetUse {
  const network = sharingNetwork(config, client);
  const { day, ofShare, ofNetwork, share } = channel === 'sms' ? SMS : EMAIL;
  if (network === undefined) return createUse(config, day, { now });
  if (network !== client) return createUse(config, ofNetwork, { network, now, isStranger });
  const isBelowShare = config.maxVerifySendsPerIp + PASS_SENDS_PER_IP_MAX <= boundsOf(config, share).max;
  return isBelowShare ? createUse(config, day, { now }) : createUse(config, ofShare, { network, now });
}

/**
 * The budget of a send by a holder's passkey: the whole vault's alone, which is the operator's cost. It takes no
 * network's share, so strangers of one network cannot use up the holder's room.
 */
export function useForKeep(config: Config, { channel, now }: Pick<SendUse, 'channel' | 'now'>): BudgetUse {
  return createUse(config, (channel === 'sms' ? SMS : EMAIL).day, { now });
}

/** The budgets of a user operation that was sponsored; `network` is null where no network's share is taken. */
export function useForSponsorship(config: Config, network: string | null, now: number): BudgetUse {
  const { day, ofShare } = SPONSORSHIP;
  return network === null ? createUse(config, day, { now }) : createUse(config, ofShare, { network, now });
}

/** The budgets of a recovery that somebody starts. */
export function useForRecovery(config: Config, client: string, now: number): BudgetUse {
  return useOfDay(config, RECOVERY, client, now);
}

/**
 * The credentials of an address in a day: a code takes none of the last `CREDENTIALS_KEPT`. They are for its passkey:
 * strangers try codes.
 */
export function useForCredential(config: Config, identifier: string, by: 'code' | 'passkey', now: number): BudgetUse {
  const { max } = boundsOf(config, 'credentials-per-identifier');
  return createUse(config, CREDENTIAL, {
    network: identifier,
    now,
    max: by === 'code' ? max - CREDENTIALS_KEPT : max,
  });
}

const CREDENTIALS_KEPT = 5;

/** The budget of a test message that the operator has sent. */
export function useForTestMessage(config: Config, now: number): BudgetUse {
  return createUse(config, TEST_MESSAGE, { now });
}

function useOfDay(config: Config, { day, ofShare }: DaySets, client: string, now: number): BudgetUse {
  const network = sharingNetwork(config, client);
  return network === undefined ? createUse(config, day, { now }) : createUse(config, ofShare, { network, now });
}

/** Budgets that are used together. */
interface BudgetSet {
  readonly kinds: readonly BudgetLimit[];
  /** SQL of how many uses the same statement made before. */
  readonly earlier?: string;
  /** The text of `room` by the condition for strangers, made at the first use. */
  readonly rooms: Map<string, string>;
}

function setOf(...kinds: readonly BudgetLimit[]): BudgetSet {
  return { kinds, rooms: new Map() };
}

function setOfSends(...kinds: readonly BudgetLimit[]): BudgetSet {
  return { ...setOf(...kinds), earlier: EARLIER_SENDS };
}

function setsOfSend(day: 'emails-per-day' | 'sms-per-day', share: 'emails-per-network' | 'sms-per-network') {
  return {
    day: setOfSends(day),
    ofShare: setOfSends(day, share),
    ofNetwork: setOfSends(day, share, 'strangers-per-network'),
    share,
  };
}

const EMAIL = setsOfSend('emails-per-day', 'emails-per-network');
const SMS = setsOfSend('sms-per-day', 'sms-per-network');
/** A day's budget, and the same with the network's share of it. */
type DaySets = ReturnType<typeof setsOfDay>;

function setsOfDay(day: BudgetLimit, share: BudgetLimit) {
  return { day: setOf(day), ofShare: setOf(day, share) };
}

const SPONSORSHIP = setsOfDay('sponsorships-per-day', 'sponsorships-per-network');
const TEST_MESSAGE = setOf('test-messages');
const CREDENTIAL = setOf('credentials-per-identifier');
const RECOVERY = setsOfDay('recoveries-per-day', 'recoveries-per-network');

interface Whose extends Partial<Pick<SendUse, 'isStranger'>> {
  /** The bucket of the limits that are not of the whole vault. */
  readonly network?: string;
  readonly now: number;
  /** In place of the limit's own. */
  readonly max?: number;
}

function createUse(config: Config, set: BudgetSet, { network, now, isStranger, max }: Whose): BudgetUse {
  const { kinds, earlier } = set;
  const use: Spending = { kinds, maxOf: (kind) => max ?? boundsOf(config, kind).max, network, now };
  const stranger = (kind: BudgetLimit) => (kind === 'strangers-per-network' ? isStranger : undefined);
  return {
    room: {
      sql: roomText(set, isStranger?.before),
      args: isStranger ? { ...roomArgs(use), ...isStranger.before.args } : roomArgs(use),
    },
    get spend() {
      return kinds.map((kind, i) => {
        // Several sends may be written together: the first statement behind them counts them all.
        const uses = earlier !== undefined && i === 0 ? 'changes()' : '1';
        return spendBudgetIfChanged(kind, use, { when: stranger(kind)?.after, uses });
      });
    },
    hasShare: kinds.length > 1,
    get resets() {
      return selectBudgets(use, { ifUnchanged: true });
    },
    get state() {
      return selectBudgets(use);
    },
    full: (row) => (row ? kinds.flatMap((kind) => fullOf(config, use, kind, row)) : []),
    refund: (when) => kinds.map((kind) => refundBudget(kind, use, both(when, stranger(kind)?.after))),
  };
}

function roomText({ kinds, rooms, earlier }: BudgetSet, before: Condition | undefined): string {
  const known = rooms.get(before?.sql ?? '');
  if (known !== undefined) return known;
  const ofStrangers = (kind: BudgetLimit) => (kind === 'strangers-per-network' ? before : undefined);
  const text = kinds.map((kind) => roomOf(hasRoom(kind, earlier), ofStrangers(kind))).join(' AND ');
  rooms.set(before?.sql ?? '', text);
  return text;
}

function roomOf(room: string, when: Condition | undefined): string {
  return when ? `(NOT (${when.sql}) OR ${room})` : room;
}

function both(one: Condition, other: Condition | undefined): Condition {
  return other ? { sql: `(${one.sql}) AND (${other.sql})`, args: { ...one.args, ...other.args } } : one;
}

function fullOf(config: Config, { network = '', now }: Spending, kind: BudgetLimit, row: Row): LimitState[] {
  const { isFull, at } = readReset(row, kind);
  if (!isFull) return [];
  const bucket = limitOf(kind).bucket === 'vault' ? '' : network;
  return [limitState(config, kind, { bucket, freesAt: at === null ? null : at + DAY_MS, now })];
}
