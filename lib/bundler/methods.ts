/** What may be asked of a bundler (ERC-7769) and of a paymaster (ERC-7677), and the form of its parameters. */
import type { Config } from '../config/config.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { invalidParams, readUserOperation, type Stage, type UserOperation } from './user-operation.ts';

/** How long a user operation may take to send. */
export const UPSTREAM_SEND_TIMEOUT_MS = 20_000;

/** A call that may be forwarded; `operation` is the user operation among its parameters. */
export interface BundlerCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly operation?: UserOperation;
  readonly timeoutMs: number;
}

type Chain = Pick<Config, 'chainId' | 'entryPointAddress' | 'bundlerExtraMethods'>;

/** Whether a method is on the list, or among the operator's own. */
export function isAllowed(config: Chain, method: string): boolean {
  return METHODS.has(method) || config.bundlerExtraMethods.includes(method);
}

/** Whether a method spends the operator's deposit. */
export function isSponsorship(method: string): boolean {
  return method.startsWith('pm_');
}

/** An allowed method's call, of checked parameters alone. Throws 400 `invalid_params`. */
export function readBundlerCall(config: Chain, method: string, params: unknown = []): BundlerCall {
  if (!Array.isArray(params)) throw invalidParams('expected an array');
  const timeoutMs = SLOW.has(method) ? UPSTREAM_SEND_TIMEOUT_MS : UPSTREAM_TIMEOUT_MS;
  const read = METHODS.get(method) ?? (isSponsorship(method) ? aboutOperation('draft') : undefined);
  return { method, timeoutMs, ...(read ? read(params, config) : { params }) };
}

type Read = (params: readonly unknown[], config: Chain) => Pick<BundlerCall, 'params' | 'operation'>;

/** Says what is wrong with a parameter behind the user operation and its EntryPoint. */
type Check = (param: unknown, config: Chain) => string | undefined;

const nothing: Read = (params) => {
  if (params.length > 0) throw invalidParams('expected none');
  return { params: [] };
};

const hash: Read = (params) => {
  const [first] = params;
  const isHash = typeof first === 'string' && /^0x[0-9a-fA-F]{64}$/.test(first);
  if (params.length !== 1 || !isHash) throw invalidParams('expected the 32-byte hash of a user operation');
  return { params: [first] };
};

/** [user operation, EntryPoint, …], the others as the checks say; without checks as they come. */
function aboutOperation(stage: Stage, checks?: readonly Check[]): Read {
  return (params, config) => {
    const [first, entryPoint, ...others] = params;
    const operation = readUserOperation(first, stage);
    const isOurs =
      typeof entryPoint === 'string' && entryPoint.toLowerCase() === config.entryPointAddress?.toLowerCase();
    if (!isOurs) throw invalidParams('the EntryPoint is not the configured one');
    if (checks && others.length > checks.length) throw invalidParams(`more than ${checks.length + 2}`);
    for (const [i, check] of checks?.entries() ?? []) {
      const fault = check(others[i], config);
      if (fault !== undefined) throw invalidParams(fault);
    }
    return { params: [operation, entryPoint, ...others], operation };
  };
}

const ourChain: Check = (param, { chainId }) => {
  const isOurs = typeof param === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(param) && BigInt(param) === BigInt(chainId);
  return isOurs ? undefined : 'the chain is not the configured one';
};

/** State overrides or a paymaster's context; may be absent or null. */
const someObject: Check = (param) =>
  (param ?? undefined) === undefined || (typeof param === 'object' && !Array.isArray(param))
    ? undefined
    : 'the last one must be an object';

const METHODS: ReadonlyMap<string, Read> = new Map([
  ['eth_chainId', nothing],
  ['eth_supportedEntryPoints', nothing],
  ['eth_estimateUserOperationGas', aboutOperation('draft', [someObject])],
  ['eth_sendUserOperation', aboutOperation('signed', [])],
  ['eth_getUserOperationByHash', hash],
  ['eth_getUserOperationReceipt', hash],
  ['pm_sponsorUserOperation', aboutOperation('draft', [someObject])],
  ['pm_getPaymasterStubData', aboutOperation('draft', [ourChain, someObject])],
  ['pm_getPaymasterData', aboutOperation('draft', [ourChain, someObject])],
]);

/** A bundler simulates these before it answers. */
const SLOW: ReadonlySet<string> = new Set(['eth_estimateUserOperationGas', 'eth_sendUserOperation']);
