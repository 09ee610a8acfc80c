// What a transaction's input says of the user operations in it (ERC-4337, EntryPoint 0.7 to 0.9).

/** A call that an account makes; 0x-hex in lower case, value in wei. */
export interface InnerCall {
  readonly target: string;
  readonly value: bigint;
  readonly data: string;
}

/** An operation as a bundler hands it to the EntryPoint; 0x-hex in lower case. */
export interface HandledOperation {
  readonly sender: string;
  /** All 256 bits. */
  readonly nonce: bigint;
  readonly callData: string;
}

/** The operations in the input of a transaction to an EntryPoint; undefined for any other input. */
export function operationsInInput(input: string): readonly HandledOperation[] | undefined {
  return decode(input, HANDLE_OPS, (words) =>
    eachOf(words.at(0), (operation) => ({
      sender: operation.address(0),
      nonce: operation.number(1),
      callData: operation.bytes(3),
    })),
  );
}

/** The calls of `execute` or `executeBatch`, the functions of accounts; undefined for other call data. */
export function callsIn(callData: string): readonly InnerCall[] | undefined {
  return (
    decode(callData, EXECUTE, (words) => [readCall(words)]) ??
    decode(callData, EXECUTE_BATCH, (words) => eachOf(words.at(0), readCall))
  );
}

/** Whether call data makes a plain transfer of exactly this ether; undefined where it is of an unknown form. */
export function paysEther(
  callData: string,
  { to, amount }: { readonly to: string; readonly amount: bigint },
): boolean | undefined {
  return callsIn(callData)?.some(
    ({ target, value, data }) => target === to.toLowerCase() && value === amount && data === '0x',
  );
}

/** A place in ABI-encoded data, from which offsets count. Reading past the end throws a `RangeError`. */
interface Words {
  /** The number in a word. */
  number(index: number): bigint;
  address(index: number): string;
  /** The bytes that a word's offset leads to. */
  bytes(index: number): string;
  /** The place that a word's offset leads to. */
  at(index: number): Words;
  /** The place after so many words. */
  after(count: number): Words;
}

/** `hex` without 0x; `start` counts its digits. */
function wordsOf(hex: string, start: number): Words {
  const take = (from: number, digits: number) => {
    if (from + digits > hex.length) throw new RangeError('the data ends before');
    return hex.slice(from, from + digits);
  };
  const number = (index: number) => BigInt(`0x${take(start + 64 * index, 64)}`);
  const at = (index: number) => {
    const offset = number(index);
    if (offset > BigInt(hex.length)) throw new RangeError('an offset past the end');
    return wordsOf(hex, start + 2 * Number(offset));
  };
  return {
    number,
    at,
    after: (count) => wordsOf(hex, start + 64 * count),
    address(index) {
      const word = take(start + 64 * index, 64);
      if (!word.startsWith('0'.repeat(24))) throw new RangeError('no address');
      return `0x${word.slice(24)}`;
    },
    bytes(index) {
      const length = at(index).number(0);
      if (length > BigInt(hex.length)) throw new RangeError('bytes past the end');
      const offset = start + 2 * Number(number(index)) + 64;
      return `0x${take(offset, 2 * Number(length))}`;
    },
  };
}

function readCall(call: Words): InnerCall {
  return { target: call.address(0), value: call.number(1), data: call.bytes(2) };
}

/** The items of an array of dynamic structs: its length, then the offset of each. */
function eachOf<T>(list: Words, read: (item: Words) => T): readonly T[] {
  const count = list.number(0);
  if (count > BigInt(ITEMS_MAX)) throw new RangeError('too many items');
  const items = list.after(1);
  return Array.from({ length: Number(count) }, (_, i) => read(items.at(i)));
}

function decode<T>(input: string, selector: string, read: (words: Words) => T): T | undefined {
  const text = input.toLowerCase();
  if (!/^0x(?:[0-9a-f]{2})*$/.test(text) || !text.startsWith(selector)) return undefined;
  try {
    return read(wordsOf(text.slice(selector.length), 0));
  } catch {
    return undefined;
  }
}

/** More than fit into a block. */
const ITEMS_MAX = 1_000;

/** The selectors of `handleOps`, `execute(address,uint256,bytes)` and `executeBatch((address,uint256,bytes)[])`. */
const HANDLE_OPS = '0x765e827f';
const EXECUTE = '0xb61d27f6';
const EXECUTE_BATCH = '0x34fcd5be';
