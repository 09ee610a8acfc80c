// What the enclave hashes is what the real EntryPoints hash, each asked for `getUserOpHash`.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AbiFunction, Hash, Hex } from 'ox';
import { loadEnclave, type PackedUserOperation } from '../../client/enclave.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { type Draw, openDraw } from '../support/draw.ts';
import { openEnclave, REFUSED } from '../support/enclave.ts';
import { SEED } from '../support/seed.ts';

const VERSIONS = ['0.7', '0.8', '0.9'] as const;
const CALLS = { '0.7': 'userop_hash_v07', '0.8': 'userop_hash_v08', '0.9': 'userop_hash_v09' } as const;
type Version = (typeof VERSIONS)[number];

const enclave = await loadEnclave(readFileSync(join(import.meta.dir, '../../assets/enclave.wasm')));
const CHAIN_ID = 84532;
/** keccak256("PaymasterSignature"), its first 8 bytes. */
const MAGIC = Hex.slice(Hash.keccak256(Hex.fromString('PaymasterSignature')), 0, 8);
const PACKED =
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }';
const GET_HASH = AbiFunction.from([PACKED, 'function getUserOpHash(PackedUserOperation op) view returns (bytes32)']);

let chain: Chain;
beforeAll(async () => {
  chain = await startChain();
  await deployEntryPoints(chain.rpc, VERSIONS);
});
afterAll(() => chain.stop());

describe.each(VERSIONS)('EntryPoint %s', (version) => {
  test('computes the hashes that the enclave computes', async () => {
    const draw = openDraw(SEED);
    for (let i = 0; i < 100; i++) {
      const op = drawOperation(draw);
      expect([SEED, i, hashHere(op, version), hashRaw(op, version)]).toEqual([
        SEED,
        i,
        ...twice(await ask(op, version)),
      ]);
    }
  });

  test('and so it does where the paymaster signs by itself', async () => {
    const draw = openDraw(SEED);
    for (const size of [0, 1, 9, 32, 65, 300]) {
      for (const length of [0, 1, size - 1, size, 65_535].filter((one) => one >= 0)) {
        const before = 52 + draw.below(3);
        const tail = Hex.concat(Hex.fromBytes(draw.bytes(size)), Hex.fromNumber(length, { size: 2 }), MAGIC);
        const op = { ...drawOperation(draw), paymasterAndData: Hex.concat(Hex.fromBytes(draw.bytes(before)), tail) };
        expect([size, length, outcome(() => hashHere(op, version)), outcome(() => hashRaw(op, version))]).toEqual([
          ...[size, length],
          ...twice(await ask(op, version).catch(() => 'refused')),
        ]);
      }
    }
  });

  test('only a whole suffix behind the fixed fields is one', async () => {
    const draw = openDraw(SEED);
    for (const size of [51, 52, 53]) {
      const given = Hex.concat(Hex.fromBytes(draw.bytes(size)), '0x0000', MAGIC);
      for (const paymasterAndData of [given, Hex.slice(given, 0, size + 9), Hex.concat(given, '0x00'), MAGIC]) {
        const op = { ...drawOperation(draw), paymasterAndData };
        expect([hashHere(op, version), hashRaw(op, version)]).toEqual(twice(await ask(op, version)));
      }
    }
  });
});

test('the signature of a paymaster is no part of the hash of 0.9, and of older ones it is', () => {
  const draw = openDraw(SEED);
  const op = drawOperation(draw);
  const fixed = Hex.fromBytes(draw.bytes(60));
  const signed = (signature: Hex.Hex) => ({
    ...op,
    paymasterAndData: Hex.concat(fixed, signature, Hex.fromNumber(Hex.size(signature), { size: 2 }), MAGIC),
  });
  const [one, other] = [signed(`0x${'11'.repeat(65)}`), signed(`0x${'22'.repeat(70)}`)];
  expect(VERSIONS.map((version) => hashHere(one, version) === hashHere(other, version))).toEqual([false, false, true]);
  expect(hashHere(one, '0.9')).not.toBe(hashHere({ ...op, paymasterAndData: fixed }, '0.9'));
});

test('an EntryPoint of another version is not hashed for', () => {
  const op = drawOperation(openDraw(SEED));
  for (const version of ['0.6', '0.10', '', 'constructor', undefined]) {
    expect(() => hashHere(op, version as Version)).toThrow(TypeError);
  }
});

function drawOperation(draw: Draw): PackedUserOperation {
  return {
    sender: Hex.fromBytes(draw.bytes(20)),
    nonce: draw.bits(256),
    initCode: draw.below(2) ? Hex.fromBytes(draw.bytes(20 + draw.below(100)).fill(0x11, 0, 1)) : '0x',
    callData: Hex.fromBytes(draw.upTo(300)),
    verificationGasLimit: draw.bits(128),
    callGasLimit: draw.bits(128),
    preVerificationGas: draw.bits(256),
    maxPriorityFeePerGas: draw.bits(128),
    maxFeePerGas: draw.bits(128),
    paymasterAndData: draw.below(2) ? Hex.fromBytes(draw.bytes(52 + draw.below(100))) : '0x',
  };
}

async function ask(op: PackedUserOperation, version: Version): Promise<string> {
  const words = (high: bigint, low: bigint) => Hex.fromNumber((high << 128n) | low, { size: 32 });
  const packed = {
    ...(op as PackedUserOperation & Record<'sender' | 'initCode' | 'callData' | 'paymasterAndData', Hex.Hex>),
    accountGasLimits: words(op.verificationGasLimit, op.callGasLimit),
    gasFees: words(op.maxPriorityFeePerGas, op.maxFeePerGas),
    signature: '0x',
  } as const;
  const call = { to: ENTRY_POINTS[version], data: AbiFunction.encodeData(GET_HASH, [packed]) };
  return String(await chain.rpc('eth_call', [call, 'latest']));
}

function hashHere(op: PackedUserOperation, version: Version): string {
  return Hex.fromBytes(enclave.userOpHash(op, { version, entryPoint: ENTRY_POINTS[version], chainId: CHAIN_ID }));
}

const { call, put, get } = openEnclave();

/** By the raw call, which takes the parts themselves. */
function hashRaw(op: PackedUserOperation, version: Version): string {
  const gas = [op.verificationGasLimit, op.callGasLimit].map((limit) => Hex.fromNumber(limit, { size: 16 }));
  const fees = [op.maxPriorityFeePerGas, op.maxFeePerGas].map((fee) => Hex.fromNumber(fee, { size: 16 }));
  const fields = Hex.concat(
    op.sender as Hex.Hex,
    Hex.fromNumber(op.nonce, { size: 32 }),
    ...gas,
    Hex.fromNumber(op.preVerificationGas, { size: 32 }),
    ...fees,
    ENTRY_POINTS[version],
    Hex.fromNumber(CHAIN_ID, { size: 32 }),
  );
  let next = put(0, Hex.toBytes(fields)) + 200;
  const ranges = [op.initCode, op.callData, op.paymasterAndData].flatMap((part) => {
    const at = put(next, Hex.toBytes(part as Hex.Hex));
    next += Hex.size(part as Hex.Hex);
    return [at, Hex.size(part as Hex.Hex)];
  });
  if (call[CALLS[version]](0, ...ranges, 6000) === REFUSED.malformed) throw new Error('refused');
  return Hex.fromBytes(get(6000, 32));
}

function outcome(run: () => string): string {
  try {
    return run();
  } catch {
    return 'refused';
  }
}

function twice<T>(value: T): [T, T] {
  return [value, value];
}
