import { argumentsIn, callsIn, EXECUTE } from '../../client/call-data.ts';
import { describeError } from '../base/log.ts';
import { addressIn, toQuantity } from '../chain/contract-call.ts';
import { entryPointOf } from '../chain/entry-point.ts';
import type { Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import type { FoundOperation, OutcomeQuery } from './outcome.ts';
import { keepPayment, type NewPayment, type PaymentKey, selectPaymentOf, takeBack, WORD } from './store.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics' | 'log'>;

/** The sender: the app of the events, and the key that bounds count under. */
export interface PaymentSender {
  readonly app: string;
  readonly client: string;
}

/** A signed user operation as bundlers take it, 0x-hex. */
type SentOperation = Readonly<Record<string, unknown>> & {
  readonly sender: string;
  readonly nonce: string;
};

/**
 * Sends a user operation to the bundler by `ask`. One that is a payment is watched for its app from before it goes out,
 * unless the bundler refuses it: no other answer says that it will not settle. Rejects as `ask` does.
 */
export async function sendRecorded<T extends object>(
  ctx: Ctx,
  operation: SentOperation,
  sender: PaymentSender,
  ask: () => Promise<T>,
): Promise<T> {
  const payment = await paymentIn(ctx, operation);
  if (!payment) return ask();
  const asked = { ...payment, ...sender, said: WORD.none, sinceBlock: null, now: ctx.clock.now() };
  await keep(ctx, asked);
  const answer = await ask();
  if ('result' in answer) await keep(ctx, { ...asked, said: WORD.accepted });
  else await write(ctx, ...takeBack(asked));
  return answer;
}

/**
 * Watches a payment whose operation was found on-chain, however it got there. A node that did not show whether ether
 * moved may do so later; until then such a row takes no other's place.
 */
export async function recordFound(
  ctx: Ctx,
  { account, nonce, movement }: Pick<OutcomeQuery, 'account' | 'nonce' | 'movement'>,
  { userOpHash, block, success, moved }: Pick<FoundOperation, 'userOpHash' | 'block' | 'success' | 'moved'>,
  sender: PaymentSender,
): Promise<void> {
  // Without a bundler nothing is watched: the vault sends no payments.
  if (ctx.config.bundlerUrl === undefined || !movement || !isOfOrder(nonce)) return;
  const { to, token, amount } = movement;
  const isUntold = moved === null && success && token === 'native' && to !== account;
  if (!moved && !isUntold) return;
  const now = ctx.clock.now();
  const said = isUntold ? WORD.none : WORD.accepted;
  const key = { ...placeOf(ctx), account, nonce: toQuantity(nonce), to, token, amount: String(amount) };
  await keep(ctx, { ...key, ...sender, userOpHash, validUntil: NO_END, said, sinceBlock: block, now });
}

/** Whether the vault watches a payment of this nonce (shortest 0x-hex) that is not settled. */
export async function isWatchedNonce(
  ctx: Pick<Ctx, 'config' | 'db'>,
  account: string,
  nonce: string,
): Promise<boolean> {
  return (await ctx.db.read(selectPaymentOf({ ...placeOf(ctx), account, nonce }, 'open'))).length > 0;
}

type Payment = PaymentKey & Pick<NewPayment, 'userOpHash' | 'validUntil'>;

/** The payment that an operation makes; undefined for any other operation. */
async function paymentIn(ctx: Ctx, operation: SentOperation): Promise<Payment | undefined> {
  const nonce = BigInt(operation.nonce);
  const movement = isOfOrder(nonce) ? movementIn(String(operation['callData']).toLowerCase()) : undefined;
  if (!movement) return undefined;
  const place = placeOf(ctx);
  const { operationHash } = await import('./operation-hash.ts');
  const userOpHash = operationHash(place, operation);
  if (userOpHash === undefined) return undefined;
  const account = operation.sender.toLowerCase();
  const validUntil = endOf(String(operation['signature']));
  return { ...place, account, nonce: toQuantity(nonce), ...movement, userOpHash, validUntil };
}

function placeOf({ config }: Pick<Ctx, 'config'>): Pick<PaymentKey, 'chainId' | 'entryPoint'> {
  return { chainId: config.chainId, entryPoint: entryPointOf(config) };
}

/** An order's nonce is number 0 of a sequence of its own. */
function isOfOrder(nonce: bigint): boolean {
  return nonce !== 0n && (nonce & SEQUENCE_MASK) === 0n;
}

/** The one transfer that an account's `execute` makes; undefined for other call data. */
function movementIn(callData: string): Pick<PaymentKey, 'to' | 'token' | 'amount'> | undefined {
  const [call] = callData.startsWith(EXECUTE) ? (callsIn(callData) ?? []) : [];
  const target = call && addressIn(call.target);
  if (!call || target === undefined) return undefined;
  const { value, data } = call;
  if (data === '0x') return value > 0n ? { to: target, token: 'native', amount: String(value) } : undefined;
  if (value !== 0n || data.length !== TRANSFER_CHARS || !data.startsWith(TRANSFER)) return undefined;
  const transfer = argumentsIn(data);
  const [to, amount] = [addressIn(transfer.word(0)), transfer.word(1)];
  return to !== undefined && amount ? { to, token: target, amount: String(amount) } : undefined;
}

/**
 * The last second in which the operation may be included, as a signature of an account of the second kind begins. It
 * ends no watch by itself.
 */
function endOf(signature: string): number {
  const end = Number.parseInt(signature.slice(4, 16), 16);
  return Number.isSafeInteger(end) && end > 0 ? end : NO_END;
}

async function keep(ctx: Ctx, payment: NewPayment): Promise<void> {
  const results = await write(ctx, ...keepPayment(payment));
  const dropped = results.slice(0, -1).reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
  // The bundler's word may still find it a place.
  const isLost = payment.said === WORD.accepted && results.at(-1)?.rowsAffected === 0;
  const refused = isLost ? 1 : 0;
  if (dropped + refused > 0) ctx.metrics.counter('vault_payments_total').add({ outcome: 'dropped' }, dropped + refused);
}

/** A payment that could not be stored is not watched; the payment itself goes on. */
async function write({ db, log }: Ctx, ...statements: readonly Statement[]) {
  try {
    return await db.write(...statements);
  } catch (error) {
    log({ level: 'error', event: 'payment_not_recorded', ...describeError(error) });
    return [];
  }
}

const NO_END = 2 ** 48;
const SEQUENCE_MASK = 2n ** 64n - 1n;
/** Selector of ERC-20's `transfer(address,uint256)`. */
const TRANSFER = '0xa9059cbb';
const TRANSFER_CHARS = 2 + 2 * 68;
