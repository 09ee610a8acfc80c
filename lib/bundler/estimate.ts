// The gas of a sponsored operation, as the bundler estimates it for the vault itself.
import { isObject } from '../base/json.ts';
import { toQuantity } from '../chain/contract-call.ts';
import type { Config } from '../config/config.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { chargeOf, type GasEstimate } from './charge.ts';
import type { Bundler, BundlerOutcome } from './client.ts';
import { quantityOf, type UserOperation } from './user-operation.ts';

/** The method that answers a stub of the paymaster's data, for an estimate (ERC-7677). */
export const STUB_METHOD = 'pm_getPaymasterStubData';

interface Ctx {
  readonly config: Pick<Config, 'chainId' | 'entryPointAddress' | 'sponsorContext'>;
  readonly bundler: Pick<Bundler, 'call'>;
}

/**
 * The bundler's estimate for a draft at these fees, with a stub that the sponsor is asked for now; or the upstream's
 * refusal. The draft's own gas members are left out, since some upstreams answer them as their own. Throws as
 * `Bundler.call`.
 */
export async function estimateGas(
  { config, bundler }: Ctx,
  draft: UserOperation,
  fees: Fees,
): Promise<GasEstimate | Refusal> {
  const { chainId, entryPointAddress, sponsorContext } = config;
  const operation = { ...membersOf(draft, KEPT), ...fees };
  const context = [toQuantity(chainId), sponsorContext ?? {}];
  const answer = await bundler.call(STUB_METHOD, [operation, entryPointAddress, ...context], UPSTREAM_TIMEOUT_MS);
  if (!('result' in answer)) return answer;
  const stub = membersOf(answer.result, PAYMASTER);
  const params = [{ ...operation, ...stub }, entryPointAddress];
  const estimated = await bundler.call('eth_estimateUserOperationGas', params, UPSTREAM_TIMEOUT_MS);
  if (!('result' in estimated)) return estimated;
  const said = isObject(estimated.result) ? estimated.result : {};
  const [preVerificationGas, callGasLimit] = [quantityOf(said['preVerificationGas']), quantityOf(said['callGasLimit'])];
  if (preVerificationGas === undefined || callGasLimit === undefined) return UNREADABLE;
  return { preVerificationGas, callGasLimit, stub: chargeOf({ sender: '', nonce: '' }, stub) };
}

/** The fees that an operation offers, 0x-hex. */
export type Fees = Readonly<Record<'maxFeePerGas' | 'maxPriorityFeePerGas', string>>;

type Refusal = Extract<BundlerOutcome, { readonly error: unknown }>;

const UNREADABLE: Refusal = { error: { code: -32603, message: 'no estimate of its gas', data: { kind: 'upstream' } } };
const KEPT = ['sender', 'nonce', 'factory', 'factoryData', 'callData', 'signature'];
const PAYMASTER = [
  'paymaster',
  'paymasterData',
  'paymasterSignature',
  'paymasterVerificationGasLimit',
  'paymasterPostOpGasLimit',
];

/** The named members of a value of any type, without those that are null. */
function membersOf(value: unknown, names: readonly string[]): Record<string, unknown> {
  if (!isObject(value)) return {};
  return Object.fromEntries(names.flatMap((name) => ((value[name] ?? null) === null ? [] : [[name, value[name]]])));
}
