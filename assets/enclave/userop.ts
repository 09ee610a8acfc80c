// ERC-4337: the hash of a user operation, as EntryPoint v0.7 and, by EIP-712, v0.8 and v0.9 compute it.

import { MALFORMED } from './errors.ts';
import { keccak256, keccakFinal, keccakInit, keccakUpdate } from './keccak.ts';

/**
 * Bytes of the fixed fields, big-endian and without padding: sender 20, nonce 32, accountGasLimits 32 (verification 16,
 *   call 16),
 * preVerificationGas 32, gasFees 32 (priority 16, most 16), EntryPoint 20, chain 32.
 */
export const USEROP_FIELDS_BYTES: u32 = 200;
/** Bytes of the three hashes of members of any length: initCode, callData, paymasterAndData. */
export const USEROP_HASHES_BYTES: u32 = 96;

/** The first 8 bytes of keccak256 of `PaymasterSignature`, as a little-endian number. */
const PAYMASTER_MAGIC: u64 = 0x56964397a225e322;
const PAYMASTER_SUFFIX_BYTES: u32 = 10;
/** Paymaster and its two gas limits. */
const PAYMASTER_FIXED_BYTES: u32 = 52;
const STREAM = memory.data(208);

const ENTRY_POINT: usize = 148;
const CHAIN: usize = 168;

/**
 * keccak256 of `PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32
 * accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)`.
 */
const OPERATION_TYPE = memory.data<u8>([
  0x29, 0xa0, 0xbc, 0xa4, 0xaf, 0x4b, 0xe3, 0x42, 0x13, 0x98, 0xda, 0x00, 0x29, 0x5e, 0x58, 0xe6, 0xd7, 0xde, 0x38,
  0xcb, 0x49, 0x22, 0x14, 0x75, 0x4c, 0xb6, 0xa4, 0x75, 0x07, 0xdd, 0x6f, 0x8e,
]);
/**
 * keccak256 of `EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)`, of `ERC4337` and
 * of `1`.
 */
const DOMAIN = memory.data<u8>([
  0x8b, 0x73, 0xc3, 0xc6, 0x9b, 0xb8, 0xfe, 0x3d, 0x51, 0x2e, 0xcc, 0x4c, 0xf7, 0x59, 0xcc, 0x79, 0x23, 0x9f, 0x7b,
  0x17, 0x9b, 0x0f, 0xfa, 0xca, 0xa9, 0xa7, 0x5d, 0x52, 0x2b, 0x39, 0x40, 0x0f, 0x36, 0x4d, 0xa2, 0x8a, 0x5c, 0x92,
  0xbc, 0xc8, 0x7f, 0xe9, 0x7c, 0x88, 0x13, 0xa6, 0xc6, 0xb8, 0xa3, 0xa0, 0x49, 0xb0, 0xea, 0x0a, 0x32, 0x8f, 0xcb,
  0x0b, 0x4f, 0x0e, 0x00, 0x33, 0x75, 0x86, 0xc8, 0x9e, 0xfd, 0xaa, 0x54, 0xc0, 0xf2, 0x0c, 0x7a, 0xdf, 0x61, 0x28,
  0x82, 0xdf, 0x09, 0x50, 0xf5, 0xa9, 0x51, 0x63, 0x7e, 0x03, 0x07, 0xcd, 0xcb, 0x4c, 0x67, 0x2f, 0x29, 0x8b, 0x8b,
  0xc6,
]);

/** Nine words of 32 bytes: the first is the type's, which v0.7 leaves out. */
const WORDS = memory.data(288);
/** The input of the last hash: 0x1901 and two hashes, or three words. */
const OUTER = memory.data(96);

/** keccak256 of operation hash, EntryPoint and chain. */
export function userOpHash07(fields: usize, hashes: usize, out: usize): void {
  layOut(fields, hashes);
  keccak256(WORDS + 32, 256, OUTER);
  putEntryPoint(fields, OUTER + 32);
  memory.copy(OUTER + 64, fields + CHAIN, 32);
  keccak256(OUTER, 96, out);
}

/**
 * The EIP-712 digest in the domain (name `ERC4337`, version `1`, chain, EntryPoint). An EIP-7702 initCode has the
 * delegate in place of its marker already.
 */
export function userOpHash08(fields: usize, hashes: usize, out: usize): void {
  layOut(fields, hashes);
  memory.copy(WORDS, OPERATION_TYPE, 32);
  keccak256(WORDS, 288, OUTER + 34);
  memory.copy(WORDS, DOMAIN, 96);
  memory.copy(WORDS + 96, fields + CHAIN, 32);
  putEntryPoint(fields, WORDS + 128);
  keccak256(WORDS, 160, OUTER + 2);
  store<u8>(OUTER, 0x19, 0);
  store<u8>(OUTER, 0x01, 1);
  keccak256(OUTER, 66, out);
}

/**
 * The hash of paymasterAndData for v0.9, which leaves out a signature of the paymaster at its end: signature, its
 * length (2), `PAYMASTER_MAGIC`, behind fixed fields of 52 bytes. MALFORMED where the length says more than there is.
 */
export function paymasterHash09(p: usize, n: u32, out: usize): i32 {
  let length: u32 = 0;
  if (n >= PAYMASTER_FIXED_BYTES + PAYMASTER_SUFFIX_BYTES && load<u64>(p + n - 8) === PAYMASTER_MAGIC) {
    length = <u32>bswap<u16>(load<u16>(p + n - PAYMASTER_SUFFIX_BYTES));
    if (length > n - PAYMASTER_FIXED_BYTES - PAYMASTER_SUFFIX_BYTES) return MALFORMED;
  }
  if (length === 0) {
    keccak256(p, n, out);
    return 0;
  }
  keccakInit(STREAM);
  keccakUpdate(STREAM, p, n - PAYMASTER_SUFFIX_BYTES - length);
  keccakUpdate(STREAM, p + n - 8, 8);
  keccakFinal(STREAM, out);
  return 0;
}

function layOut(fields: usize, hashes: usize): void {
  memory.fill(WORDS, 0, 64);
  memory.copy(WORDS + 44, fields, 20);
  memory.copy(WORDS + 64, fields + 20, 32);
  memory.copy(WORDS + 96, hashes, 64);
  memory.copy(WORDS + 160, fields + 52, 96);
  memory.copy(WORDS + 256, hashes + 64, 32);
}

function putEntryPoint(fields: usize, word: usize): void {
  memory.fill(word, 0, 12);
  memory.copy(word + 12, fields + ENTRY_POINT, 20);
}
