import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import { dueQueue } from '../db/due-queue.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';

/** The most payments that are watched at a time: of one account, of one client, in all. */
export const OPEN_PER_ACCOUNT_MAX = 16;
export const OPEN_PER_CLIENT_MAX = 256;
export const OPEN_MAX = 2_000;
/** How long a settled payment is kept: the device remembers it as long. */
export const SETTLED_KEEP_MS = 90 * DAY_MS;
/** How long a payment is watched at most. The signed operation may end later, or never. */
export const WATCH_MS = DAY_MS;
/** How long a row that is no longer looked at is kept after it was due. */
const OPEN_KEEP_MS = 3 * DAY_MS;

/** The bundler's answer: none yet, or that it accepted the operation. Rows without an answer are dropped first. */
export const WORD = { none: 0, accepted: 1 } as const;

/** One of `WORD`. */
export type Word = (typeof WORD)[keyof typeof WORD];

/** A movement that a nonce of an account may make; 0x-hex in lower case, `nonce` without leading zeros. */
export interface PaymentKey {
  readonly chainId: number;
  readonly entryPoint: string;
  readonly account: string;
  readonly nonce: string;
  readonly to: string;
  readonly token: string;
  /** Decimal. */
  readonly amount: string;
}

/** A payment as an app named it: each app that did has a row, and an event, of its own. */
export interface NamedPayment extends PaymentKey {
  readonly app: string;
}

/** A payment that may settle from now on; times are milliseconds, `validUntil` in seconds of the chain's time. */
export interface NewPayment extends NamedPayment {
  readonly client: string;
  readonly userOpHash: string;
  readonly validUntil: number;
  readonly said: Word;
  /** The block from which on it is looked for, if that is known. */
  readonly sinceBlock: number | null;
  readonly now: number;
}

/** A row of `payments` that is watched. */
export interface OpenPayment extends NamedPayment {
  readonly id: number;
  readonly userOpHash: string;
  readonly validUntil: number;
  readonly sinceBlock: number | null;
  readonly nextBlock: number | null;
  /** The block that its operation was seen in. */
  readonly block: number | null;
  readonly createdAt: number;
  /** Looks in vain; once its operation was seen in `block`, those that did not tell whether ether moved. */
  readonly checks: number;
}

const KEY = `chain_id = :chain_id AND account = :account AND nonce = :nonce AND entry_point = :entry_point
  AND payee = :payee AND token = :token AND amount = :amount AND app = :app`;

/**
 * Watches a payment, or keeps watching it. Where too many are open, it drops the oldest whose answer from the bundler
 * is not better than this one's; `rowsAffected` of all but the last statement counts them.
 */
export function keepPayment(payment: NewPayment): readonly Statement[] {
  const { client, userOpHash, validUntil, said, sinceBlock, now, ...key } = payment;
  return [
    drop(`account = :account`, OPEN_PER_ACCOUNT_MAX, { ...keyArgs(key), said }),
    drop(`client = :client`, OPEN_PER_CLIENT_MAX, { ...keyArgs(key), client, said }),
    drop(`true`, OPEN_MAX, { ...keyArgs(key), said }),
    {
      sql: `INSERT INTO payments (app, chain_id, entry_point, account, nonce, payee, token, amount, user_op_hash, said,
          unanswered, client, valid_until, since_block, created_at, next_check_at)
        SELECT :app, :chain_id, :entry_point, :account, :nonce, :payee, :token, :amount, :hash, :said,
          :unanswered, :client, :valid_until, :since_block, :now, :next
        WHERE EXISTS (SELECT 1 FROM payments WHERE ${KEY})
          OR (${room('account = :account', OPEN_PER_ACCOUNT_MAX)} AND ${room('client = :client', OPEN_PER_CLIENT_MAX)}
            AND ${room('true', OPEN_MAX)})
        ON CONFLICT (chain_id, account, nonce, entry_point, payee, token, amount, app) DO UPDATE
          SET user_op_hash = excluded.user_op_hash, said = max(said, excluded.said),
            unanswered = unanswered + excluded.unanswered,
            valid_until = max(valid_until, excluded.valid_until), next_check_at = min(next_check_at, excluded.next_check_at)
          WHERE status = 'open'`,
      args: {
        ...keyArgs(key),
        client,
        said,
        unanswered: said === WORD.none ? 1 : 0,
        hash: userOpHash,
        valid_until: validUntil,
        since_block: sinceBlock,
        now,
        next: now + FIRST_LOOK_MS,
      },
    },
  ];
}

/** Bundlers need about a second. */
const FIRST_LOOK_MS = 1_000;

/** Keeps the best of the open rows, one fewer than `max`, for a new one. */
function drop(scope: string, max: number, args: Statement['args']): Statement {
  return {
    sql: `DELETE FROM payments WHERE said <= :said AND id IN (SELECT id FROM payments WHERE status = 'open' AND ${scope}
        ORDER BY said DESC, created_at DESC LIMIT ${SWEEP_ROWS_MAX} OFFSET ${max - 1})
      AND NOT EXISTS (SELECT 1 FROM payments WHERE ${KEY})`,
    args,
  };
}

function room(scope: string, max: number): string {
  return `NOT EXISTS (SELECT 1 FROM payments WHERE status = 'open' AND ${scope} LIMIT 1 OFFSET ${max - 1})`;
}

/**
 * Records that the bundler refused an operation. The payment goes unless the bundler took another operation of it, or
 * has not answered one.
 */
export function takeBack(payment: NamedPayment): readonly Statement[] {
  const args = keyArgs(payment);
  return [
    { sql: `UPDATE payments SET unanswered = unanswered - 1 WHERE ${KEY} AND status = 'open'`, args },
    {
      sql: `DELETE FROM payments WHERE ${KEY} AND status = 'open' AND said = ${WORD.none} AND unanswered <= 0`,
      args,
    },
  ];
}

/** The longest pause: after many looks, and where a node does not show whether ether moved. */
export const PAYMENT_PAUSE_MAX_MS = 10 * MINUTE_MS;

/** The payments that are due to be looked at. */
export const PAYMENTS = dueQueue({ table: 'payments', at: 'next_check_at', longest: PAYMENT_PAUSE_MAX_MS });

/** Open payments of a chain and EntryPoint that are due, the one that is due longest first. */
export function selectDuePayments(
  { chainId, entryPoint }: Pick<PaymentKey, 'chainId' | 'entryPoint'>,
  now: number,
  max: number,
): Statement {
  // Unary plus: the index of nonces would lead through all settled rows of the chain.
  const sql = '+chain_id = :chain_id AND entry_point = :entry_point';
  const and = { sql, args: { chain_id: chainId, entry_point: entryPoint } };
  return PAYMENTS.select('*', { now, limit: max, and });
}

type NonceOfPayment = Omit<PaymentKey, 'to' | 'token' | 'amount'>;

/** A payment of a nonce that settled, or that may: the transaction of a settled one. */
export function selectPaymentOf({ chainId, entryPoint, account, nonce }: NonceOfPayment, status: 'open' | 'settled') {
  return {
    sql: `SELECT tx_hash FROM payments WHERE chain_id = :chain_id AND account = :account AND nonce = :nonce
      AND entry_point = :entry_point AND status = :status LIMIT 1`,
    args: { chain_id: chainId, account, nonce, entry_point: entryPoint, status },
  };
}

/** The findings of a look that matter to the next one. */
export interface PaymentLook extends Pick<OpenPayment, 'sinceBlock' | 'nextBlock' | 'block' | 'checks'> {
  readonly nextCheckAt: number;
}

/** Puts off the next look. */
export function putOff({ id, checks }: Pick<OpenPayment, 'id' | 'checks'>, look: PaymentLook): Statement {
  const { sinceBlock, nextBlock, block, checks: counted, nextCheckAt } = look;
  return {
    sql: `UPDATE payments SET since_block = :since, next_block = :next_block, block = :block, next_check_at = :next,
      checks = :counted WHERE id = :id AND checks = :checks AND status = 'open'`,
    args: { id, checks, since: sinceBlock, next_block: nextBlock, block, counted, next: nextCheckAt },
  };
}

/** The operation that made a payment, in a final block. */
export interface Settlement {
  readonly userOpHash: string;
  readonly txHash: string;
  readonly block: number;
}

/** Settles a payment and emits its event, once over all processes. `rowsAffected` of the first is the verdict. */
export function settlePayment(payment: OpenPayment, { userOpHash, txHash, block }: Settlement, now: number) {
  const { id, app, account, to, token, amount, chainId, nonce } = payment;
  const paid = { account, to, token, amount, chain_id: chainId };
  const data = { ...paid, user_op_hash: userOpHash, tx_hash: txHash, block, nonce };
  return [
    {
      sql: `UPDATE payments SET status = 'settled', user_op_hash = :hash, tx_hash = :tx_hash, block = :block,
        settled_at = :now, client = NULL, next_check_at = NULL WHERE id = :id AND status = 'open'`,
      args: { id, hash: userOpHash, tx_hash: txHash, block, now },
    },
    emitEvent(eventOf('payment.settled', { app, at: now }, data), { ifChanged: true }),
  ] as const;
}

/** Ends the watch of a payment that will not settle, unless one that ends later was sent since it was read. */
export function dropPayment({ id, validUntil }: Pick<OpenPayment, 'id' | 'validUntil'>): Statement {
  const sql = `DELETE FROM payments WHERE id = :id AND status = 'open' AND valid_until = :valid_until`;
  return { sql, args: { id, valid_until: validUntil } };
}

/** Deletes settled payments after their time, and open ones that nothing looks at: of a former chain or EntryPoint. */
export function sweepPayments(now: number): readonly Statement[] {
  const sweep = (condition: string, before: number): Statement => ({
    sql: `DELETE FROM payments WHERE id IN (SELECT id FROM payments WHERE ${condition} LIMIT ${SWEEP_ROWS_MAX})`,
    args: { before },
  });
  return [
    sweep(`settled_at <= :before`, now - SETTLED_KEEP_MS),
    sweep(`status = 'open' AND next_check_at <= :before`, now - OPEN_KEEP_MS),
  ];
}

/** Reads a row of `selectDuePayments`. */
export function toOpenPayment(row: Row): OpenPayment {
  const text = (column: string) => textOf(row, column) ?? '';
  return {
    id: Number(row['id']),
    app: text('app'),
    chainId: Number(row['chain_id']),
    entryPoint: text('entry_point'),
    account: text('account'),
    nonce: text('nonce'),
    to: text('payee'),
    token: text('token'),
    amount: text('amount'),
    userOpHash: text('user_op_hash'),
    validUntil: Number(row['valid_until']),
    sinceBlock: numberOf(row, 'since_block'),
    nextBlock: numberOf(row, 'next_block'),
    block: numberOf(row, 'block'),
    createdAt: Number(row['created_at']),
    checks: Number(row['checks']),
  };
}

function keyArgs({ chainId, entryPoint, account, nonce, to, token, amount, app }: NamedPayment): Statement['args'] {
  return { chain_id: chainId, entry_point: entryPoint, account, nonce, payee: to, token, amount, app };
}
