import { VaultError } from '../base/error.ts';
import { isObject } from '../base/json.ts';
import type { Predict } from '../chain/account-address.ts';
import { quantity } from '../chain/contract-call.ts';
import { TEXT_CHARS_MAX } from '../constants.ts';
import { dayLimitReached } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import type { Bundler, BundlerOutcome } from './client.ts';
import { type BundlerCall, isAllowed, isSponsorship, readBundlerCall } from './methods.ts';
import { isOwnSender } from './sponsorship.ts';
import { insertSponsorship, selectSponsorshipReset } from './store.ts';
import type { UserOperation } from './user-operation.ts';

type Services = Pick<Platform, 'config' | 'rpc' | 'clock' | 'db' | 'metrics'> & {
  readonly predict: Predict;
  readonly bundler: Bundler | undefined;
};

/** What a caller may name its request by: JSON-RPC's string, number or null. */
export type CallId = string | number | null;

/** The id a request is answered under; undefined when it has none (a notification) or one that could not be given back as it came. */
export function readId(message: unknown): CallId | undefined {
  if (!isObject(message) || !Object.hasOwn(message, 'id')) return undefined;
  const { id } = message;
  if (typeof id === 'string') return /^[^\p{Cc}\p{Cs}]*$/u.test(id) && id.length <= TEXT_CHARS_MAX ? id : undefined;
  if (typeof id === 'number') return Math.abs(id) <= Number.MAX_SAFE_INTEGER ? id : undefined;
  return id === null ? null : undefined;
}

/**
 * Forwards one JSON-RPC request to the bundler, once, rebuilt from its checked parts (completions section 8). Throws 400 `invalid_request` and
 * `invalid_params`, 403 `method_refused` and `sponsorship_refused`, 429 `sponsor_limit_reached`, 502 `bundler_error` and `rpc_error`, 503, 504.
 */
export async function callBundler(vault: Services, message: unknown): Promise<BundlerOutcome> {
  const { method, params, operation, timeoutMs } = readCall(vault, message);
  if (!vault.bundler) throw new VaultError('bundler_not_configured');
  if (operation && isSponsorship(method)) await sponsor(vault, operation);
  return vault.bundler.call(method, params, timeoutMs);
}

/** The list is judged first, so that nothing else can be learnt of a method that is not on it. */
function readCall({ config }: Services, message: unknown): BundlerCall {
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

/** Spends the operator's deposit on an account of its own factory, within the day's limit, which counts each operation once. */
async function sponsor(vault: Services, operation: UserOperation): Promise<void> {
  const { config, clock, db } = vault;
  if (!(await isOwnSender(vault, operation))) {
    throw new VaultError('sponsorship_refused', {
      extra: { kind: 'paymaster_rejected', reason: 'the sender is not an account of the configured factory' },
    });
  }
  const now = clock.now();
  const sponsorship = {
    sender: operation.sender.toLowerCase(),
    nonce: quantity(BigInt(operation.nonce)),
    now,
  };
  const results = await db.write(
    insertSponsorship(sponsorship, config.sponsorDailyMax),
    selectSponsorshipReset(sponsorship, config.sponsorDailyMax),
  );
  if (results[0]?.rowsAffected === 1) return;
  const slotSince = (results[1]?.rows[0]?.['at'] ?? null) as number | null;
  throw dayLimitReached(vault, 'sponsorships-per-day', slotSince, now);
}

function invalidRequest(): VaultError {
  return new VaultError('invalid_request', { message: 'Invalid Request' });
}
