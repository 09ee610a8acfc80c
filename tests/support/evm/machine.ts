// A small EVM that is fast enough for millions of calls: no gas, no transient storage, only the precompiles that
// accounts use. A test compares it with a complete one.
import { keccak_256 } from '@noble/hashes/sha3.js';

/** Code, read once: where one may jump to, and what each PUSH pushes. */
export interface Code {
  readonly bytes: Uint8Array;
  readonly isDestination: Uint8Array;
  readonly pushed: readonly (bigint | undefined)[];
}

/** An address with code. */
export interface Contract {
  readonly code: Code;
  readonly storage: Map<bigint, bigint>;
}

/** An event of a contract. */
export interface Log {
  readonly address: bigint;
  readonly topics: readonly bigint[];
  readonly data: Uint8Array;
}

/** What a call came to. */
export interface Outcome {
  readonly ok: boolean;
  readonly data: Uint8Array;
}

/** One call, or one run of creation code. */
export interface Message {
  readonly caller: bigint;
  /** Whose storage and balance. */
  readonly self: bigint;
  readonly code: Code;
  readonly data: Uint8Array;
  readonly value: bigint;
  readonly isStatic: boolean;
  readonly depth: number;
}

/** All addresses, the block, and how to take back what a call that fails has changed. */
export interface State {
  readonly contracts: Map<bigint, Contract>;
  readonly balances: Map<bigint, bigint>;
  readonly precompiles: ReadonlyMap<bigint, (data: Uint8Array) => Uint8Array>;
  readonly chainId: bigint;
  time: bigint;
  logs: Log[];
  undo: (() => void)[];
}

/** A message that runs. */
export interface Frame {
  readonly state: State;
  readonly message: Message;
  readonly stack: bigint[];
  memory: Uint8Array;
  view: DataView;
  /** How much of the memory is in use, in whole words. */
  size: number;
  pc: number;
  returned: Uint8Array;
  outcome: Outcome | undefined;
}

const WORD = 32;
const MEMORY_MAX = 1 << 20;
const DEPTH_MAX = 64;
const NOTHING = new Uint8Array(0);

/** Reads code. */
export function readCode(bytes: Uint8Array): Code {
  const isDestination = new Uint8Array(bytes.length);
  const pushed: (bigint | undefined)[] = [];
  for (let pc = 0; pc < bytes.length; pc++) {
    const op = bytes[pc] ?? 0;
    if (op === 0x5b) isDestination[pc] = 1;
    if (op < 0x5f || op > 0x7f) continue;
    pushed[pc] = toWord(bytes.subarray(pc + 1, pc + 1 + op - 0x5f));
    pc += op - 0x5f;
  }
  return { bytes, isDestination, pushed };
}

/** Runs a message; a failure takes back what it has changed. */
export function runMessage(state: State, message: Message, step: (frame: Frame) => void): Outcome {
  if (message.depth > DEPTH_MAX) return { ok: false, data: NOTHING };
  const [undone, logged] = [state.undo.length, state.logs.length];
  const memory = new Uint8Array(1024);
  const frame: Frame = {
    state,
    message,
    stack: [],
    memory,
    view: new DataView(memory.buffer),
    size: 0,
    pc: 0,
    returned: NOTHING,
    outcome: undefined,
  };
  while (frame.outcome === undefined) step(frame);
  if (!frame.outcome.ok) {
    while (state.undo.length > undone) state.undo.pop()?.();
    state.logs.length = logged;
  }
  return frame.outcome;
}

/** Ends a frame as an exception does. */
export function fail(frame: Frame): void {
  frame.outcome = { ok: false, data: NOTHING };
}

/** The value on top of the stack, taken off. */
export function pop(frame: Frame): bigint {
  const value = frame.stack.pop();
  if (value === undefined) throw new Error('the stack is empty');
  return value;
}

/** The same as a number; what is too large for any memory is the largest there may be. */
export function popNumber(frame: Frame): number {
  const value = pop(frame);
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value);
}

/** Makes memory reach so far; false when that is more than there may be. */
export function reach(frame: Frame, at: number, length: number): boolean {
  if (length === 0) return true;
  const end = Math.ceil((at + length) / WORD) * WORD;
  if (end > MEMORY_MAX) {
    fail(frame);
    return false;
  }
  if (end > frame.memory.length) {
    const grown = new Uint8Array(Math.max(end, frame.memory.length * 2));
    grown.set(frame.memory);
    frame.memory = grown;
    frame.view = new DataView(grown.buffer);
  }
  frame.size = Math.max(frame.size, end);
  return true;
}

/** A part of memory, copied. */
export function readMemory(frame: Frame, at: number, length: number): Uint8Array {
  return reach(frame, at, length) ? frame.memory.slice(at, at + length) : NOTHING;
}

/** Copies bytes to memory, with zeros behind their end. */
export function copyToMemory(frame: Frame, to: number, from: Uint8Array, at: number, length: number): void {
  if (!reach(frame, to, length)) return;
  const part = from.subarray(Math.min(at, from.length), Math.min(at + length, from.length));
  frame.memory.fill(0, to + part.length, to + length);
  frame.memory.set(part, to);
}

/** A word of memory. */
export function readWord({ view }: Frame, at: number): bigint {
  return wordAt(view, at);
}

/** Writes a word to memory. */
export function writeWord({ view }: Frame, at: number, value: bigint): void {
  view.setBigUint64(at, value >> 192n);
  view.setBigUint64(at + 8, value >> 128n);
  view.setBigUint64(at + 16, value >> 64n);
  view.setBigUint64(at + 24, value);
}

/** Bytes as a number. */
export function toWord(bytes: Uint8Array): bigint {
  if (bytes.length === WORD) return wordAt(new DataView(bytes.buffer, bytes.byteOffset, WORD), 0);
  let word = 0n;
  for (const byte of bytes) word = (word << 8n) | BigInt(byte);
  return word;
}

/** A number as 32 bytes. */
export function toBytes32(value: bigint): Uint8Array {
  const bytes = new Uint8Array(WORD);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 4; i++) view.setBigUint64(8 * i, value >> BigInt(192 - 64 * i));
  return bytes;
}

/** keccak256 as a number. */
export function hash(bytes: Uint8Array): bigint {
  return toWord(keccak_256(bytes));
}

function wordAt(view: DataView, at: number): bigint {
  return (
    (view.getBigUint64(at) << 192n) |
    (view.getBigUint64(at + 8) << 128n) |
    (view.getBigUint64(at + 16) << 64n) |
    view.getBigUint64(at + 24)
  );
}
