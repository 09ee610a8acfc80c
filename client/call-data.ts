import type { SettledOperation } from './operations.ts';

/**
 * Call data as Solidity reads it (https://docs.soliditylang.org/en/latest/abi-spec.html). An offset that points
 * backwards reads as undefined here, though Solidity would follow it.
 */

/** The arguments of a function, or a tuple among them: its words by index; offsets count from its own start. */
export interface Tuple {
  word(index: number): bigint | undefined;
  /** The bytes at the offset in a word, 0x-hex. */
  bytes(index: number): string | undefined;
  /** The list of tuples of variable length at the offset in a word. A tuple is undefined where it cannot be read. */
  tuples(index: number): readonly (Tuple | undefined)[] | undefined;
}

/** The arguments in call data, 0x-hex behind the selector. */
export function argumentsIn(callData: string): Tuple {
  return tupleAt(callData.slice(10), 0);
}

function tupleAt(hex: string, start: number): Tuple {
  const wordAt = (at: number) => {
    const digits = hex.slice(2 * at, 2 * at + 64);
    return /^[0-9a-f]{64}$/.test(digits) ? BigInt(`0x${digits}`) : undefined;
  };
  /** Where a word leads, counted from `base`; undefined beyond the end. */
  const led = (base: number, at: number) => {
    const offset = wordAt(at);
    return offset === undefined || offset > BigInt(hex.length) ? undefined : base + Number(offset);
  };
  return {
    word: (index) => wordAt(start + 32 * index),
    bytes(index) {
      const at = led(start, start + 32 * index);
      const length = at === undefined ? undefined : wordAt(at);
      if (at === undefined || length === undefined || length > BigInt(hex.length)) return undefined;
      const digits = hex.slice(2 * (at + 32), 2 * (at + 32 + Number(length)));
      return digits.length === 2 * Number(length) ? `0x${digits}` : undefined;
    },
    tuples(index) {
      const at = led(start, start + 32 * index);
      const length = at === undefined ? undefined : wordAt(at);
      if (at === undefined || length === undefined || length * 64n > BigInt(hex.length)) return undefined;
      return Array.from({ length: Number(length) }, (_, i) => {
        const found = led(at + 32, at + 32 + 32 * i);
        return found === undefined ? undefined : tupleAt(hex, found);
      });
    },
  };
}

/** Selectors of the accounts' `execute(address,uint256,bytes)` and `executeBatch((address,uint256,bytes)[])`. */
export const EXECUTE = '0xb61d27f6';
export const EXECUTE_BATCH = '0x34fcd5be';
/** Selector of the EntryPoints' `handleOps`, 0.7 to 0.9. */
const HANDLE_OPS = '0x765e827f';

/** The call data of the operation of this sender and nonce in the input of `handleOps`; undefined in any other. */
export function callDataIn(
  input: string,
  { sender, nonce }: Pick<SettledOperation, 'sender' | 'nonce'>,
): string | undefined {
  if (!input.startsWith(HANDLE_OPS)) return undefined;
  const operations = argumentsIn(input).tuples(0) ?? [];
  const [found, ...others] = operations.filter((one) => one?.word(0) === BigInt(sender) && one.word(1) === nonce);
  return others.length === 0 ? found?.bytes(3) : undefined;
}

/** A call that the account is to make. */
export interface AccountCall {
  readonly target: bigint;
  readonly value: bigint;
  readonly data: string;
}

/** The calls that the account is to make; undefined for another function. */
export function callsIn(callData: string): readonly AccountCall[] | undefined {
  const isBatch = callData.startsWith(EXECUTE_BATCH);
  if (!isBatch && !callData.startsWith(EXECUTE)) return undefined;
  const calls = (isBatch ? argumentsIn(callData).tuples(0) : [argumentsIn(callData)])?.map(readCall);
  return calls?.every((call) => call !== undefined) ? calls : undefined;
}

function readCall(call: Tuple | undefined): AccountCall | undefined {
  const [target, value, data] = [call?.word(0), call?.word(1), call?.bytes(2)];
  return target === undefined || value === undefined || data === undefined ? undefined : { target, value, data };
}
