// ERC-4337, ABI packing and names, over offsets into the window; the header of ../index.ts documents every call.

import { keccak256 } from '../keccak.ts';
import { aliasHash } from '../names.ts';
import { paymasterHash09, USEROP_FIELDS_BYTES, USEROP_HASHES_BYTES, userOpHash07, userOpHash08 } from '../userop.ts';
import { packAssertion, packedLength } from '../webauthn.ts';
import { apart, range } from '../window.ts';

const SIGNATURE = memory.data(64);
const HASHES = memory.data(96);

/** An assertion as the account's signature; its length. */
export function webauthn_pack(
  authenticatorData: u32,
  authenticatorDataLength: u32,
  clientData: u32,
  clientDataLength: u32,
  signature: u32,
  out: u32,
): i32 {
  const authenticator = range(authenticatorData, authenticatorDataLength);
  const client = range(clientData, clientDataLength);
  memory.copy(SIGNATURE, range(signature, 64), 64);
  const length = packedLength(authenticatorDataLength, clientDataLength);
  const packed = range(out, length);
  apart(packed, length, authenticator, authenticatorDataLength);
  apart(packed, length, client, clientDataLength);
  return packAssertion(authenticator, authenticatorDataLength, client, clientDataLength, SIGNATURE, packed);
}

/** ERC-4337 for EntryPoint v0.7. */
export function userop_hash_v07(
  fields: u32,
  initCode: u32,
  initCodeLength: u32,
  callData: u32,
  callDataLength: u32,
  paymaster: u32,
  paymasterLength: u32,
  out: u32,
): void {
  const fixed = range(fields, USEROP_FIELDS_BYTES);
  const hash = range(out, 32);
  hashParts(initCode, initCodeLength, callData, callDataLength, paymaster, paymasterLength);
  userOpHash07(fixed, HASHES, hash);
}

/** ERC-4337 for EntryPoint v0.8. */
export function userop_hash_v08(
  fields: u32,
  initCode: u32,
  initCodeLength: u32,
  callData: u32,
  callDataLength: u32,
  paymaster: u32,
  paymasterLength: u32,
  out: u32,
): void {
  const fixed = range(fields, USEROP_FIELDS_BYTES);
  const hash = range(out, 32);
  hashParts(initCode, initCodeLength, callData, callDataLength, paymaster, paymasterLength);
  userOpHash08(fixed, HASHES, hash);
}

/** ERC-4337 for EntryPoint v0.9: as v0.8, without the paymaster's own signature. */
export function userop_hash_v09(
  fields: u32,
  initCode: u32,
  initCodeLength: u32,
  callData: u32,
  callDataLength: u32,
  paymaster: u32,
  paymasterLength: u32,
  out: u32,
): i32 {
  const fixed = range(fields, USEROP_FIELDS_BYTES);
  const hash = range(out, 32);
  hashParts(initCode, initCodeLength, callData, callDataLength, paymaster, paymasterLength);
  const answer = paymasterHash09(range(paymaster, paymasterLength), paymasterLength, HASHES + 64);
  if (answer === 0) userOpHash08(fixed, HASHES, hash);
  return answer;
}

/** The same of hashes already made. */
export function userop_hash_v07_of(fields: u32, hashes: u32, out: u32): void {
  userOpHash07(range(fields, USEROP_FIELDS_BYTES), range(hashes, USEROP_HASHES_BYTES), range(out, 32));
}

/** The same of hashes already made. */
export function userop_hash_v08_of(fields: u32, hashes: u32, out: u32): void {
  userOpHash08(range(fields, USEROP_FIELDS_BYTES), range(hashes, USEROP_HASHES_BYTES), range(out, 32));
}

/** The registry's key of an alias. */
export function alias_hash(p: u32, n: u32, out: u32): void {
  aliasHash(range(p, n), n, range(out, 32));
}

/** The registry's key of a DID: keccak256 of its UTF-8. */
export function did_hash(p: u32, n: u32, out: u32): void {
  keccak256(range(p, n), n, range(out, 32));
}

/** Every range is looked at before a hash is made, so that a trap leaves nothing half done. */
function hashParts(
  initCode: u32,
  initCodeLength: u32,
  callData: u32,
  callDataLength: u32,
  paymaster: u32,
  paymasterLength: u32,
): void {
  const init = range(initCode, initCodeLength);
  const call = range(callData, callDataLength);
  const pay = range(paymaster, paymasterLength);
  keccak256(init, initCodeLength, HASHES);
  keccak256(call, callDataLength, HASHES + 32);
  keccak256(pay, paymasterLength, HASHES + 64);
}
