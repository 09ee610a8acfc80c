import { DAY_MS } from '../base/clock.ts';
import { type LimitState, VaultError } from '../base/error.ts';
import { isObject } from '../base/json.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { toQuantity } from '../chain/contract-call.ts';
import { TEXT_CHARS_MAX } from '../constants.ts';
import type { Row } from '../db/database.ts';
import { DEFAULT_APP } from '../events/catalogue.ts';
import { useForSponsorship } from '../limits/budgets.ts';
import { lastLimitReached, limitState } from '../limits/limits.ts';
import { sendRecorded } from '../payments/record.ts';
import type { Platform } from '../platform.ts';
import type { Bundler, BundlerOutcome } from './client.ts';
import { type BundlerCall, isAllowed, isSponsorship, readBundlerCall } from './methods.ts';
import { refusalOfCalls } from './sponsored-calls.ts';
import { isOwnSender } from './sponsorship.ts';
import { insertSponsorship, type Sponsorship, selectAccountFull, selectIsSponsored, toIsSponsored } from './store.ts';
import type { UserOperation } from './user-operation.ts';

type Ctx = Pick<Platform, 'config' | 'rpc' | 'clock' | 'db' | 'metrics' | 'log'> & {
  readonly predict: PredictAddress;
  readonly bundler: Bundler | undefined;
};

/** The `id` of a JSON-RPC request. */
export type CallId = string | number | null;

/** The id of a request. Undefined if it has none (a notification), or one that cannot be echoed exactly. */
export function readId(message: unknown): CallId | undefined {
  if (!isObject(message) || !Object.hasOwn(message, 'id')) return undefined;
  const { id } = message;
  if (typeof id === 'string') return /^[^\p{Cc}\p{Cs}]*$/u.test(id) && id.length <= TEXT_CHARS_MAX ? id : undefined;
  if (typeof id === 'number') return Math.abs(id) <= Number.MAX_SAFE_INTEGER ? id : undefined;
  return id === null ? null : undefined;
}

/**
 * Forwards one JSON-RPC request of a client to the bundler, rebuilt from its checked parts. Throws `invalid_request`,
 * `invalid_params`, `method_refused`, `sponsorship_refused`, `sponsor_limit_reached`, `bundler_error`,
 * `bundler_timeout`, `bundler_not_configured`, `rpc_error`.
 */
export async function callBundler(
  ctx: Ctx,
  message: unknown,
  client: string,
  app = DEFAULT_APP,
): Promise<BundlerOutcome> {
  const { method, params, userOperation, timeoutMs } = readCall(ctx, message);
  const { bundler } = ctx;
  if (!bundler) throw new VaultError('bundler_not_configured');
  const ask = () => bundler.call(method, params, timeoutMs);
  if (userOperation && isSponsorship(method)) return sponsor(ctx, userOperation, client, ask);
  if (userOperation && method === 'eth_sendUserOperation')
    return sendRecorded(ctx, userOperation, { app, client }, ask);
  return ask();
}

/** The method is checked first, so that no other error reveals anything about a method that is not allowed. */
function readCall({ config }: Ctx, message: unknown): BundlerCall {
  if (!isObject(message) || typeof message['method'] !== 'string') throw invalidRequest();
  const { method, params } = message;
  if (!isAllowed(config, method)) {
    throw new VaultError('method_refused', {
      message: 'method_not_allowed',
      extra: { method: method.slice(0, TEXT_CHARS_MAX).toWellFormed() },
    });
  }
  if (message['jsonrpc'] !== '2.0' || readId(message) === undefined) throw invalidRequest();
  return readBundlerCall(config, method, params);
}

/**
 * Asks the sponsor for an account of the configured factory, within the daily budgets. The sponsorship is counted when
 * the sponsor has said yes, each user operation once. Where that write refuses, nobody gets the sponsor's answer.
 */
async function sponsor(
  ctx: Ctx,
  userOperation: UserOperation,
  client: string,
  ask: () => Promise<BundlerOutcome>,
): Promise<BundlerOutcome> {
  const { config, clock, db } = ctx;
  if (!(await isOwnSender(ctx, userOperation))) throw refused('the sender is not an account of the configured factory');
  const fault = refusalOfCalls(config, userOperation);
  if (fault !== undefined) throw refused(fault);
  const operation = {
    sender: userOperation.sender.toLowerCase(),
    nonce: toQuantity(BigInt(userOperation.nonce)),
  };
  await checkBudgets(ctx, { ...operation, now: clock.now() }, client);
  const outcome = await ask();
  if (!('result' in outcome)) return outcome;
  const dear = refusalOfCalls(config, userOperation, outcome.result);
  if (dear !== undefined) throw refused(dear);
  const sponsorship = { ...operation, now: clock.now() };
  const use = useForSponsorship(config, client, sponsorship.now);
  const results = await db.write(
    insertSponsorship(sponsorship, use.room, config.sponsorAccountDailyMax),
    ...use.spend,
    use.resets,
    selectAccountFull(sponsorship, config.sponsorAccountDailyMax),
    selectIsSponsored(sponsorship),
  );
  if (toIsSponsored(results.at(-1)?.rows)) return outcome;
  const ofAccount = fullAccount(config, sponsorship, results.at(-2)?.rows);
  throw lastLimitReached(ctx, [...use.full(results.at(-3)?.rows[0]), ...ofAccount]);
}

function refused(reason: string): VaultError {
  return new VaultError('sponsorship_refused', { extra: { kind: 'paymaster_rejected', reason } });
}

/** The state of the account's own limit, if it is full. */
function fullAccount(config: Ctx['config'], { sender, now }: Sponsorship, rows: readonly Row[] = []): LimitState[] {
  return rows.map(({ since = null }) => {
    const freesAt = since === null ? null : Number(since) + DAY_MS;
    return limitState(config, 'sponsorships-per-account', { bucket: sender, freesAt, now });
  });
}

/** Spares the sponsor a call whose answer nobody would get. */
async function checkBudgets({ db, ...ctx }: Ctx, sponsorship: Sponsorship, client: string): Promise<void> {
  const use = useForSponsorship(ctx.config, client, sponsorship.now);
  const [isSponsored, [state], ofAccount] = await Promise.all([
    db.read(selectIsSponsored(sponsorship)),
    db.read(use.state),
    db.read(selectAccountFull(sponsorship, ctx.config.sponsorAccountDailyMax)),
  ]);
  const full = [...use.full(state), ...fullAccount(ctx.config, sponsorship, ofAccount)];
  if (full.length > 0 && !toIsSponsored(isSponsored)) throw lastLimitReached(ctx, full);
}

function invalidRequest(): VaultError {
  return new VaultError('invalid_request', { message: 'Invalid Request' });
}
