import {
  type Code,
  copyToMemory,
  type Frame,
  fail,
  hash,
  type Message,
  pop,
  popNumber,
  reach,
  readCode,
  readMemory,
  readWord,
  runMessage,
  toBytes32,
  toWord,
  writeWord,
} from './machine.ts';
import { MASK, PAIRS, READS, swap, truth } from './words.ts';

const ADDRESS = (1n << 160n) - 1n;
const NOTHING = new Uint8Array(0);
const EMPTY: Code = readCode(NOTHING);

const OTHERS: Readonly<Record<number, (frame: Frame) => void>> = {
  0: (frame) => end(frame, true, NOTHING),
  8: (frame) => modular(frame, (a, b) => a + b),
  9: (frame) => modular(frame, (a, b) => a * b),
  21: (frame) => void frame.stack.push(truth(pop(frame) === 0n)),
  25: (frame) => void frame.stack.push(pop(frame) ^ MASK),
  32: (frame) => void frame.stack.push(hash(readMemory(frame, popNumber(frame), popNumber(frame)))),
  49: (frame) => void frame.stack.push(frame.state.balances.get(pop(frame) & ADDRESS) ?? 0n),
  53: (frame) => void frame.stack.push(dataAt(frame.message.data, popNumber(frame))),
  55: (frame) => copy(frame, frame.message.data),
  57: (frame) => copy(frame, frame.message.code.bytes),
  59: (frame) => void frame.stack.push(BigInt(codeAt(frame, pop(frame)).bytes.length)),
  60: (frame) => copy(frame, codeAt(frame, pop(frame)).bytes),
  62: (frame) => copy(frame, frame.returned),
  80: (frame) => void pop(frame),
  81: (frame) => {
    const at = popNumber(frame);
    if (reach(frame, at, 32)) frame.stack.push(readWord(frame, at));
  },
  82: (frame) => {
    const [at, value] = [popNumber(frame), pop(frame)];
    if (reach(frame, at, 32)) writeWord(frame, at, value);
  },
  83: (frame) => {
    const [at, value] = [popNumber(frame), pop(frame)];
    if (reach(frame, at, 1)) frame.memory[at] = Number(value & 0xffn);
  },
  84: (frame) => void frame.stack.push(storageOf(frame).get(pop(frame)) ?? 0n),
  85: (frame) => store(frame, pop(frame), pop(frame)),
  86: (frame) => jump(frame, popNumber(frame)),
  87: (frame) => {
    const [to, condition] = [popNumber(frame), pop(frame)];
    if (condition !== 0n) jump(frame, to);
  },
  91: () => undefined,
  94: (frame) => {
    const [to, from, length] = [popNumber(frame), popNumber(frame), popNumber(frame)];
    copyToMemory(frame, to, readMemory(frame, from, length), 0, length);
  },
  240: (frame) => create(frame, false),
  241: (frame) => call(frame, 'call'),
  243: (frame) => end(frame, true, readMemory(frame, popNumber(frame), popNumber(frame))),
  244: (frame) => call(frame, 'delegatecall'),
  245: (frame) => create(frame, true),
  250: (frame) => call(frame, 'staticcall'),
  253: (frame) => end(frame, false, readMemory(frame, popNumber(frame), popNumber(frame))),
  254: fail,
};

/** Runs the next operation of a frame. Throws for an operation that it does not know. */
export function step(frame: Frame): void {
  const op = frame.message.code.bytes[frame.pc] ?? 0;
  frame.pc++;
  const run = TABLE[op];
  if (!run) throw new Error(`no such operation: 0x${op.toString(16)}`);
  run(frame);
}

/** Every operation by its number. */
const TABLE: readonly (((frame: Frame) => void) | undefined)[] = Array.from({ length: 256 }, (_, op) => operation(op));

function operation(op: number): ((frame: Frame) => void) | undefined {
  const [two, read] = [PAIRS[op], READS[op]];
  if (two) return (frame) => void frame.stack.push(two(pop(frame), pop(frame)));
  if (read) return (frame) => void frame.stack.push(read(frame));
  if (op >= 0x5f && op <= 0x7f) return push(op - 0x5f);
  if (op >= 0x80 && op <= 0x8f) return ({ stack }) => void stack.push(stack[stack.length - op + 0x7f] ?? 0n);
  if (op >= 0x90 && op <= 0x9f) return ({ stack }) => swap(stack, stack.length - op + 0x8e);
  if (op >= 0xa0 && op <= 0xa4) return (frame) => log(frame, op - 0xa0);
  return OTHERS[op];
}

function push(length: number): (frame: Frame) => void {
  return (frame) => {
    frame.stack.push(frame.message.code.pushed[frame.pc - 1] ?? 0n);
    frame.pc += length;
  };
}

/** Calls code at an address, or a precompile; the value moves first. */
export function runCall(frame: Pick<Frame, 'state'>, to: bigint, message: Omit<Message, 'code'>) {
  const { state } = frame;
  const precompile = state.precompiles.get(to);
  if (precompile) return { ok: true, data: precompile(message.data) };
  const undone = state.undo.length;
  if (message.value !== 0n && message.self === to && !move(state, message.caller, to, message.value)) {
    return { ok: false, data: NOTHING };
  }
  const outcome = runMessage(state, { ...message, code: state.contracts.get(to)?.code ?? EMPTY }, step);
  if (!outcome.ok) while (state.undo.length > undone) state.undo.pop()?.();
  return outcome;
}

function modular(frame: Frame, of: (a: bigint, b: bigint) => bigint): void {
  const [a, b, n] = [pop(frame), pop(frame), pop(frame)];
  frame.stack.push(n === 0n ? 0n : of(a, b) % n);
}

function end(frame: Frame, ok: boolean, data: Uint8Array): void {
  frame.outcome ??= { ok, data };
}

function dataAt(data: Uint8Array, at: number): bigint {
  if (at >= data.length) return 0n;
  const part = data.subarray(at, at + 32);
  return toWord(part) << BigInt(8 * (32 - part.length));
}

function copy(frame: Frame, from: Uint8Array): void {
  const [to, at, length] = [popNumber(frame), popNumber(frame), popNumber(frame)];
  if (from === frame.returned && at + length > from.length) fail(frame);
  else copyToMemory(frame, to, from, at, length);
}

function jump(frame: Frame, to: number): void {
  if (frame.message.code.isDestination[to] !== 1) fail(frame);
  frame.pc = to;
}

function codeAt({ state }: Frame, address: bigint): Code {
  return state.contracts.get(address & ADDRESS)?.code ?? EMPTY;
}

function storageOf({ state, message }: Frame): Map<bigint, bigint> {
  const contract = state.contracts.get(message.self);
  if (!contract) throw new Error('storage of an address without code');
  return contract.storage;
}

function store(frame: Frame, slot: bigint, value: bigint): void {
  if (frame.message.isStatic) {
    fail(frame);
    return;
  }
  const storage = storageOf(frame);
  const before = storage.get(slot) ?? 0n;
  frame.state.undo.push(() => storage.set(slot, before));
  storage.set(slot, value);
}

function log(frame: Frame, count: number): void {
  const [at, length] = [popNumber(frame), popNumber(frame)];
  const topics = Array.from({ length: count }, () => pop(frame));
  if (frame.message.isStatic) {
    fail(frame);
    return;
  }
  frame.state.logs.push({ address: frame.message.self, topics, data: readMemory(frame, at, length) });
}

function move(state: Frame['state'], from: bigint, to: bigint, value: bigint): boolean {
  const { balances, undo } = state;
  const [has, had] = [balances.get(from) ?? 0n, balances.get(to) ?? 0n];
  if (has < value) return false;
  if (from === to) return true;
  undo.push(() => void balances.set(from, has).set(to, had));
  balances.set(from, has - value).set(to, had + value);
  return true;
}

function call(frame: Frame, kind: 'call' | 'delegatecall' | 'staticcall'): void {
  const { message } = frame;
  pop(frame);
  const to = pop(frame) & ADDRESS;
  const value = kind === 'call' ? pop(frame) : 0n;
  const data = readMemory(frame, popNumber(frame), popNumber(frame));
  const [out, length] = [popNumber(frame), popNumber(frame)];
  if (!reach(frame, out, length)) return;
  if (message.isStatic && value !== 0n) {
    fail(frame);
    return;
  }
  const isDelegate = kind === 'delegatecall';
  const outcome = runCall(frame, to, {
    caller: isDelegate ? message.caller : message.self,
    self: isDelegate ? message.self : to,
    data,
    value: isDelegate ? message.value : value,
    isStatic: message.isStatic || kind === 'staticcall',
    depth: message.depth + 1,
  });
  frame.returned = outcome.data;
  frame.memory.set(outcome.data.subarray(0, length), out);
  frame.stack.push(truth(outcome.ok));
}

function create(frame: Frame, withSalt: boolean): void {
  const { message } = frame;
  const value = pop(frame);
  const code = readMemory(frame, popNumber(frame), popNumber(frame));
  if (message.isStatic || value !== 0n) {
    fail(frame);
    return;
  }
  // Without a count of creations, CREATE gives the address of CREATE2 with the caller as salt.
  const salt = withSalt ? pop(frame) : message.self;
  frame.stack.push(deploy(frame, message.self, code, salt) ?? 0n);
}

/** Runs creation code at its CREATE2 address; undefined when that fails. */
export function deploy(
  { state }: Pick<Frame, 'state'>,
  by: bigint,
  code: Uint8Array,
  salt: bigint,
): bigint | undefined {
  const preimage = Buffer.concat([
    Uint8Array.of(0xff),
    toBytes32(by).subarray(12),
    toBytes32(salt),
    toBytes32(hash(code)),
  ]);
  const address = hash(preimage) & ADDRESS;
  if (state.contracts.has(address)) return undefined;
  const storage = new Map<bigint, bigint>();
  state.contracts.set(address, { code: EMPTY, storage });
  const message = { caller: by, self: address, data: NOTHING, value: 0n, isStatic: false, depth: 1 };
  const { ok, data } = runMessage(state, { ...message, code: readCode(code) }, step);
  if (ok) state.contracts.set(address, { code: readCode(data), storage });
  else state.contracts.delete(address);
  if (ok) state.undo.push(() => state.contracts.delete(address));
  return ok ? address : undefined;
}
