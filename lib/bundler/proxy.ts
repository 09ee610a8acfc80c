import { VaultError } from '../base/error.ts';
import { isObject } from '../base/json.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { toQuantity } from '../chain/contract-call.ts';
import { TEXT_CHARS_MAX } from '../constants.ts';
import { dayLimitReached } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import type { Bundler, BundlerOutcome } from './client.ts';
import { type BundlerCall, isAllowed, isSponsorship, readBundlerCall } from './methods.ts';
import { isOwnSender } from './sponsorship.ts';
import { insertSponsorship, selectSponsorshipReset } from './store.ts';
import type { UserOperation } from './user-operation.ts';

type Ctx = Pick<Platform, 'config' | 'rpc' | 'clock' | 'db' | 'metrics'> & {
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
 * Forwards one JSON-RPC request to the bundler, rebuilt from its checked parts. Throws `invalid_request`,
 * `invalid_params`, `method_refused`, `sponsorship_refused`, `sponsor_limit_reached`, `bundler_error`,
 * `bundler_timeout`, `bundler_not_configured`, `rpc_error`.
 */
export async function callBundler(ctx: Ctx, message: unknown): Promise<BundlerOutcome> {
  const { method, params, userOperation, timeoutMs } = readCall(ctx, message);
  if (!ctx.bundler) throw new VaultError('bundler_not_configured');
  if (userOperation && isSponsorship(method)) await sponsor(ctx, userOperation);
  return ctx.bundler.call(method, params, timeoutMs);
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
 * Counts a sponsorship within the daily limit, each user operation once. The sender must be an account of the
 * configured factory.
 */
async function sponsor(ctx: Ctx, userOperation: UserOperation): Promise<void> {
  const { config, clock, db } = ctx;
  if (!(await isOwnSender(ctx, userOperation))) {
    throw new VaultError('sponsorship_refused', {
      extra: { kind: 'paymaster_rejected', reason: 'the sender is not an account of the configured factory' },
    });
  }
  const now = clock.now();
  const sponsorship = {
    sender: userOperation.sender.toLowerCase(),
    nonce: toQuantity(BigInt(userOperation.nonce)),
    now,
  };
  const results = await db.write(
    insertSponsorship(sponsorship, config.sponsorDailyMax),
    selectSponsorshipReset(sponsorship, config.sponsorDailyMax),
  );
  if (results[0]?.rowsAffected === 1) return;
  const slotSince = (results[1]?.rows[0]?.['at'] ?? null) as number | null;
  throw dayLimitReached(ctx, 'sponsorships-per-day', slotSince, now);
}

function invalidRequest(): VaultError {
  return new VaultError('invalid_request', { message: 'Invalid Request' });
}
