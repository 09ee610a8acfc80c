// The price that a bundler asks per unit of gas. No standard has a method for it: each vendor has its own.
import type { Clock } from '../base/clock.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { isObject } from '../base/json.ts';
import { quantityOf } from './user-operation.ts';

/** In wei per unit of gas, as far as a bundler says it. */
export interface AskedPrice {
  readonly maxFee: bigint;
  readonly tip: bigint;
}

/** A bundler without an answer in this time asks nothing. */
const PRICE_TIMEOUT_MS = 3_000;
/** How long a bundler counts as one without such a method. */
const WITHOUT_MS = 10 * MINUTE_MS;

/** A function that asks a bundler for its price; zeros where it has no method for it, or does not answer. */
export function createAskedPrice(call: CallBundler, clock: Clock): () => Promise<AskedPrice> {
  let known: PriceMethod | undefined;
  let askAgainAt = 0;
  return async () => {
    if (!known && clock.monotonic() < askAgainAt) return NOTHING;
    for (const one of known ? [known] : METHODS) {
      const outcome = await call(one.method, [], PRICE_TIMEOUT_MS).catch(() => undefined);
      // Silence says nothing of the method.
      if (!outcome) return NOTHING;
      const price = 'result' in outcome ? one.read(outcome.result) : undefined;
      known = price ? one : undefined;
      if (price) return price;
    }
    askAgainAt = clock.monotonic() + WITHOUT_MS;
    return NOTHING;
  };
}

/** Rejects without an answer. */
type CallBundler = (
  method: string,
  params: readonly unknown[],
  timeoutMs: number,
) => Promise<{ readonly result: unknown } | { readonly error: unknown }>;

interface PriceMethod {
  readonly method: string;
  /** Undefined for an answer of another form. */
  read(result: unknown): AskedPrice | undefined;
}

/** The methods of Pimlico (alto), Alchemy (rundler) and Etherspot (skandha). */
const METHODS: readonly PriceMethod[] = [
  {
    method: 'pimlico_getUserOperationGasPrice',
    read: (result) => feesIn(isObject(result) ? result['fast'] : undefined),
  },
  { method: 'rundler_maxPriorityFeePerGas', read: (result) => ofTip(quantityOf(result)) },
  { method: 'skandha_getGasPrice', read: feesIn },
];

function feesIn(result: unknown): AskedPrice | undefined {
  if (!isObject(result)) return undefined;
  const [maxFee, tip] = [quantityOf(result['maxFeePerGas']), quantityOf(result['maxPriorityFeePerGas'])];
  return maxFee === undefined || tip === undefined ? undefined : { maxFee, tip };
}

function ofTip(tip: bigint | undefined): AskedPrice | undefined {
  return tip === undefined ? undefined : { maxFee: 0n, tip };
}

const NOTHING: AskedPrice = { maxFee: 0n, tip: 0n };
