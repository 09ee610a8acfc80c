/**
 * Call data as Solidity reads it (https://docs.soliditylang.org/en/latest/abi-spec.html). What it would read by an
 * offset that points backwards is undefined here.
 */

/** The arguments of a function, or a tuple among them: its words by index; offsets count from its own start. */
export interface Tuple {
  word(index: number): bigint | undefined;
  /** What a word leads to: bytes, 0x-hex. */
  bytes(index: number): string | undefined;
  /** What a word leads to: a list of tuples of variable length, undefined where one cannot be read. */
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
