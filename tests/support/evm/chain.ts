import { sha256 } from '@noble/hashes/sha2.js';
import { Hex, P256, Secp256k1, Signature } from 'ox';
import { type Log, type Outcome, readCode, type State, toBytes32, toWord } from './machine.ts';
import { deploy, runCall } from './opcodes.ts';

/** A chain in this process: contracts, ether and a clock, without blocks or gas. */
export interface SmallChain {
  readonly state: State;
  deploy(creationCode: Uint8Array): bigint;
  call(caller: bigint, to: bigint, data: Uint8Array, value?: bigint): Outcome & { readonly logs: readonly Log[] };
}

const CHAIN_ID = 84532n;
const ONE = toBytes32(1n);
const NOTHING = new Uint8Array(0);

/** A chain with nothing on it. */
export function openSmallChain(time: bigint): SmallChain {
  const state: State = {
    contracts: new Map(),
    balances: new Map(),
    precompiles: PRECOMPILES,
    chainId: CHAIN_ID,
    time,
    logs: [],
    undo: [],
  };
  return {
    state,
    deploy(creationCode) {
      const address = deploy({ state }, 0n, creationCode, 0n);
      if (address === undefined) throw new Error('the creation failed');
      return address;
    },
    call(caller, to, data, value = 0n) {
      const message = { caller, self: to, data, value, isStatic: false, depth: 1 };
      const outcome = runCall({ state }, to, message);
      const { logs } = state;
      [state.logs, state.undo] = [[], []];
      return { ...outcome, logs };
    },
  };
}

/** Puts code at an address. */
export function place({ state }: SmallChain, address: bigint, code: Uint8Array): void {
  state.contracts.set(address, { code: readCode(code), storage: new Map() });
}

const PRECOMPILES = new Map<bigint, (data: Uint8Array) => Uint8Array>([
  [1n, recover],
  [2n, (data) => sha256(data)],
  [0x100n, verifyP256],
]);

/** ecrecover: the address that signed, or nothing. */
function recover(data: Uint8Array): Uint8Array {
  const input = padded(data, 128);
  const v = toWord(input.subarray(32, 64));
  if (v !== 27n && v !== 28n) return NOTHING;
  try {
    const payload = input.slice(0, 32);
    const [r, s] = [toWord(input.subarray(64, 96)), toWord(input.subarray(96, 128))];
    const signature = Signature.from({
      r: Hex.fromNumber(r, { size: 32 }),
      s: Hex.fromNumber(s, { size: 32 }),
      yParity: Number(v - 27n),
    });
    return toBytes32(BigInt(Secp256k1.recoverAddress({ payload, signature })));
  } catch {
    return NOTHING;
  }
}

/** RIP-7212: one, or nothing. */
function verifyP256(data: Uint8Array): Uint8Array {
  if (data.length !== 160) return NOTHING;
  const word = (i: number) => Hex.fromBytes(data.slice(32 * i, 32 * i + 32));
  try {
    const publicKey = { prefix: 4, x: word(3), y: word(4) } as const;
    const signature = { r: word(1), s: word(2) };
    return P256.verify({ payload: data.slice(0, 32), signature, publicKey }) ? ONE : NOTHING;
  } catch {
    return NOTHING;
  }
}

function padded(data: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set(data.subarray(0, length));
  return bytes;
}
