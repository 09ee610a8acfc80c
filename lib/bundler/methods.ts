// The allowed methods of bundlers (ERC-7769) and paymasters (ERC-7677), and the form of their parameters.
import type { Config } from '../config/config.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { invalidParams, readUserOperation, type UserOperation, type UserOperationStage } from './user-operation.ts';

/** The timeout of `eth_estimateUserOperationGas` and `eth_sendUserOperation`. */
export const UPSTREAM_SEND_TIMEOUT_MS = 20_000;

/** A call that may be forwarded; `userOperation` is the one among its parameters. */
export interface BundlerCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly userOperation?: UserOperation;
  readonly timeoutMs: number;
}

type Chain = Pick<Config, 'chainId' | 'entryPointAddress' | 'bundlerExtraMethods' | 'sponsorContext'>;

/** Whether a method is in `METHODS`, or in the operator's `BUNDLER_EXTRA_METHODS`. */
export function isAllowed(config: Chain, method: string): boolean {
  return METHODS.has(method) || config.bundlerExtraMethods.includes(method);
}

/** Whether a method asks the paymaster, and so may spend the operator's deposit. */
export function isSponsorship(method: string): boolean {
  return method.startsWith('pm_');
}

/** The call of an allowed method, with checked parameters only. Throws 400 `invalid_params`. */
export function readBundlerCall(config: Chain, method: string, params: unknown = []): BundlerCall {
  if (!Array.isArray(params)) throw invalidParams('expected an array');
  const timeoutMs = SLOW.has(method) ? UPSTREAM_SEND_TIMEOUT_MS : UPSTREAM_TIMEOUT_MS;
  const read = METHODS.get(method) ?? (isSponsorship(method) ? otherSponsorship : undefined);
  return { method, timeoutMs, ...(read ? read(params, config) : { params }) };
}

type ParamsReader = (params: readonly unknown[], config: Chain) => Pick<BundlerCall, 'params' | 'userOperation'>;

/** Returns the fault of a parameter after the user operation and its EntryPoint; undefined for a valid one. */
type ParamCheck = (param: unknown, config: Chain) => string | undefined;

const noParams: ParamsReader = (params) => {
  if (params.length > 0) throw invalidParams('expected none');
  return { params: [] };
};

const userOperationHash: ParamsReader = (params) => {
  const [first] = params;
  const isHash = typeof first === 'string' && /^0x[0-9a-fA-F]{64}$/.test(first);
  if (params.length !== 1 || !isHash) throw invalidParams('expected the 32-byte hash of a user operation');
  return { params: [first] };
};

/** [user operation, EntryPoint, …]; the others are checked in order. */
function withUserOperation(stage: UserOperationStage, checks: readonly ParamCheck[]): ParamsReader {
  return (params, config) => {
    const [first, entryPoint, ...others] = params;
    const userOperation = readUserOperation(first, stage);
    const isOurs =
      typeof entryPoint === 'string' && entryPoint.toLowerCase() === config.entryPointAddress?.toLowerCase();
    if (!isOurs) throw invalidParams('the EntryPoint is not the configured one');
    if (others.length > checks.length) throw invalidParams(`more than ${checks.length + 2}`);
    for (const [i, check] of checks.entries()) {
      const fault = check(others[i], config);
      if (fault !== undefined) throw invalidParams(fault);
    }
    return { params: [userOperation, entryPoint, ...others], userOperation };
  };
}

const ourChain: ParamCheck = (param, { chainId }) => {
  const isOurs = typeof param === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(param) && BigInt(param) === BigInt(chainId);
  return isOurs ? undefined : 'the chain is not the configured one';
};

/**
 * A paymaster's method. The context among its parameters is the operator's `SPONSOR_CONTEXT`, since the caller's could
 * name any policy of the operator's account at the provider. `fallback` stands in where that is not set.
 */
function withContext(checks: readonly ParamCheck[], fallback: readonly object[]): ParamsReader {
  const read = withUserOperation('draft', [...checks, someObject]);
  return (params, config) => {
    const { params: all, ...call } = read(params, config);
    const { sponsorContext } = config;
    return { ...call, params: [...all.slice(0, 2 + checks.length), ...(sponsorContext ? [sponsorContext] : fallback)] };
  };
}

/**
 * A method that the operator added. Its form is unknown, so it gets the caller's user operation and EntryPoint alone.
 */
const otherSponsorship: ParamsReader = (params, config) => withContext([], [])(params.slice(0, 2), config);

/** State overrides or a paymaster's context; may be absent or null. */
const someObject: ParamCheck = (param) =>
  (param ?? undefined) === undefined || (typeof param === 'object' && !Array.isArray(param))
    ? undefined
    : 'the last one must be an object';

const METHODS: ReadonlyMap<string, ParamsReader> = new Map([
  ['eth_chainId', noParams],
  ['eth_supportedEntryPoints', noParams],
  ['eth_estimateUserOperationGas', withUserOperation('draft', [someObject])],
  ['eth_sendUserOperation', withUserOperation('signed', [])],
  ['eth_getUserOperationByHash', userOperationHash],
  ['eth_getUserOperationReceipt', userOperationHash],
  ['pm_sponsorUserOperation', withContext([], [])],
  // ERC-7677: they always have a context.
  ['pm_getPaymasterStubData', withContext([ourChain], [{}])],
  ['pm_getPaymasterData', withContext([ourChain], [{}])],
]);

/** A bundler simulates these before it answers. */
const SLOW: ReadonlySet<string> = new Set(['eth_estimateUserOperationGas', 'eth_sendUserOperation']);
