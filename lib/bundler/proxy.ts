import { VaultError } from '../base/error.ts';
import { isObject } from '../base/json.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { TEXT_CHARS_MAX } from '../constants.ts';
import { DEFAULT_APP } from '../events/catalogue.ts';
import { sendRecorded } from '../payments/record.ts';
import type { Platform } from '../platform.ts';
import type { Bundler, BundlerOutcome } from './client.ts';
import { type BundlerCall, isAllowed, isSponsorship, readBundlerCall } from './methods.ts';
import { sponsor } from './sponsor.ts';
import { isServedSender } from './sponsorship.ts';

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
 * `bundler_timeout`, `bundler_not_configured`, `sender_not_served`, `rpc_error`.
 */
export async function callBundler(
  ctx: Ctx,
  message: unknown,
  client: string,
  app = DEFAULT_APP,
): Promise<BundlerOutcome> {
  const call = readCall(ctx, message);
  const { method, params, userOperation, timeoutMs } = call;
  const { bundler } = ctx;
  if (!bundler) throw new VaultError('bundler_not_configured');
  if (userOperation && isSponsorship(method)) return sponsor({ ...ctx, bundler }, { ...call, userOperation }, client);
  const ask = () => bundler.call(method, params, timeoutMs);
  if (!userOperation || method !== 'eth_sendUserOperation') return ask();
  if (ctx.config.bundlerSenders === 'own' && !(await isServedSender(ctx, userOperation)))
    throw new VaultError('sender_not_served', { extra: { kind: 'sender_not_served' } });
  return sendRecorded(ctx, userOperation, { app, client }, ask);
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

function invalidRequest(): VaultError {
  return new VaultError('invalid_request', { message: 'Invalid Request' });
}
