// Operations on words alone, and those that only read.
import type { Frame } from './machine.ts';

/** All words are below this. */
export const MASK = (1n << 256n) - 1n;
const PLENTY_OF_GAS = 10_000_000n;

const signed = (value: bigint) => BigInt.asIntN(256, value);
/** One or zero. */
export const truth = (value: boolean) => (value ? 1n : 0n);

/** Operations that take two words. */
export const PAIRS: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  1: (a, b) => (a + b) & MASK,
  2: (a, b) => (a * b) & MASK,
  3: (a, b) => (a - b) & MASK,
  4: (a, b) => (b === 0n ? 0n : a / b),
  5: (a, b) => (b === 0n ? 0n : (signed(a) / signed(b)) & MASK),
  6: (a, b) => (b === 0n ? 0n : a % b),
  7: (a, b) => (b === 0n ? 0n : (signed(a) % signed(b)) & MASK),
  10: (a, b) => power(a, b),
  11: (a, b) => (a > 30n ? b : BigInt.asIntN(Number(a + 1n) * 8, b) & MASK),
  16: (a, b) => truth(a < b),
  17: (a, b) => truth(a > b),
  18: (a, b) => truth(signed(a) < signed(b)),
  19: (a, b) => truth(signed(a) > signed(b)),
  20: (a, b) => truth(a === b),
  22: (a, b) => a & b,
  23: (a, b) => a | b,
  24: (a, b) => a ^ b,
  26: (a, b) => (a > 31n ? 0n : (b >> (8n * (31n - a))) & 0xffn),
  27: (a, b) => (a > 255n ? 0n : (b << a) & MASK),
  28: (a, b) => (a > 255n ? 0n : b >> a),
  29: (a, b) => (signed(b) >> (a > 255n ? 255n : a)) & MASK,
};

/** What is pushed without taking anything. */
export const READS: Readonly<Record<number, (frame: Frame) => bigint>> = {
  48: ({ message }) => message.self,
  51: ({ message }) => message.caller,
  52: ({ message }) => message.value,
  54: ({ message }) => BigInt(message.data.length),
  56: ({ message }) => BigInt(message.code.bytes.length),
  61: ({ returned }) => BigInt(returned.length),
  66: ({ state }) => state.time,
  70: ({ state }) => state.chainId,
  71: ({ state, message }) => state.balances.get(message.self) ?? 0n,
  88: ({ pc }) => BigInt(pc - 1),
  89: ({ size }) => BigInt(size),
  90: () => PLENTY_OF_GAS,
};

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [b, e] = [base, exponent]; e > 0n; e >>= 1n, b = (b * b) & MASK) if (e & 1n) result = (result * b) & MASK;
  return result;
}

/** Exchanges the top of the stack with another place. */
export function swap(stack: bigint[], other: number): void {
  const top = stack.length - 1;
  const value = stack[top] ?? 0n;
  stack[top] = stack[other] ?? 0n;
  stack[other] = value;
}
