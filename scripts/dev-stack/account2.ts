// Digests that keys of a second account sign: operations with an end, vetoes, messages (docs/contracts.md).
import { AbiParameters, type Address, Hex, Secp256k1, Signature, TypedData } from 'ox';
import creationCode from '../../contracts/creation-code.json' with { type: 'json' };
import type { ChainRpc } from './chain.ts';
import { create2 } from './create2.ts';
import { encodeAssertion, type Operation, operationHash, type SmartAccount } from './operation.ts';
import type { Passkey } from './passkey.ts';
import { addressOf } from './wallet.ts';

/** A key of an account: its index there, and how it signs 32 bytes. */
export interface Signer {
  readonly index: number;
  /** A passkey signs an operation's digest, an address typed data with it. */
  readonly kind: 'passkey' | 'address';
  /** The key as the account knows it. */
  readonly x: bigint;
  readonly y: bigint;
  sign(digest: Hex.Hex): Hex.Hex;
}

/** A recovery that a veto names. */
export interface Proposal {
  readonly id: number;
  readonly x: bigint;
  readonly y: bigint;
}

/** The latest end that an account takes: it never comes. */
export const NO_END = 2 ** 47 - 1;

/** A passkey at an index of an account. */
export function passkeySigner(passkey: Passkey, index = 0): Signer {
  const [x, y] = [Hex.toBigInt(Hex.fromBytes(passkey.key.x)), Hex.toBigInt(Hex.fromBytes(passkey.key.y))];
  return { index, kind: 'passkey', x, y, sign: (digest) => encodeAssertion(passkey.assert(Hex.toBytes(digest))) };
}

/** An Ethereum key at an index of an account. */
export function addressSigner(privateKey: Hex.Hex, index: number): Signer {
  const sign = (payload: Hex.Hex) => Signature.toHex(Secp256k1.sign({ payload, privateKey }));
  return { index, kind: 'address', x: BigInt(addressOf(privateKey)), y: 0n, sign };
}

/** Deploys the second factory where it is not there yet. */
export function deployFactory2(rpc: ChainRpc, entryPoint: Address.Address): Promise<Address.Address> {
  const args = AbiParameters.encode([{ type: 'address' }], [entryPoint]);
  return create2(rpc, Hex.concat(creationCode.AccountFactory2 as Hex.Hex, args));
}

/** The digest that a passkey signs for an operation until `validUntil`, in seconds. */
export function operationDigest(userOpHash: Hex.Hex, validUntil: number): Hex.Hex {
  return TypedData.hashStruct({
    types: OPERATION,
    primaryType: 'VaultOperation',
    data: { userOpHash, validUntil },
  });
}

/** The digest that an address signs for an operation until `validUntil`: the same as typed data. */
export function operationPayload(
  account: Address.Address,
  chainId: number,
  userOpHash: Hex.Hex,
  validUntil: number,
): Hex.Hex {
  return TypedData.getSignPayload({
    domain: domainOf(account, chainId),
    types: OPERATION,
    primaryType: 'VaultOperation',
    message: { userOpHash, validUntil },
  });
}

/** The operation with a key's signature that ends after `validUntil`. */
export async function signUntil(
  node: ChainRpc,
  account: SmartAccount,
  operation: Operation,
  signer = passkeySigner(account.passkey),
  validUntil = NO_END,
): Promise<Operation> {
  const chainId = Number(await node('eth_chainId'));
  const userOpHash = operationHash(account, operation, chainId);
  const digest =
    signer.kind === 'passkey'
      ? operationDigest(userOpHash, validUntil)
      : operationPayload(account.address, chainId, userOpHash, validUntil);
  return { ...operation, signature: encodeSignature(signer, signer.sign(digest), validUntil) };
}

/** An operation's signature: the key's index, the end, and the key's own signature. */
export function encodeSignature({ index }: Pick<Signer, 'index'>, assertion: Hex.Hex, validUntil: number): Hex.Hex {
  return Hex.concat(Hex.fromNumber(index, { size: 1 }), Hex.fromNumber(validUntil, { size: 6 }), assertion);
}

/** A key's signature of a digest, as `isValidSignature` and `vetoRecovery` take it. */
export function signDigest(signer: Signer, digest: Hex.Hex): Hex.Hex {
  return Hex.concat(Hex.fromNumber(signer.index, { size: 1 }), signer.sign(digest));
}

/** The digest that a key signs to veto a recovery. */
export function vetoDigest(account: Address.Address, chainId: number, { id, x, y }: Proposal): Hex.Hex {
  return TypedData.getSignPayload({
    domain: domainOf(account, chainId),
    types: VETO,
    primaryType: 'VetoRecovery',
    message: { id, x, y },
  });
}

/** The EIP-712 domain of an account. */
export function domainOf(verifyingContract: Address.Address, chainId: number) {
  return { name: 'Vault Account', version: '2', chainId, verifyingContract } as const;
}

const OPERATION = {
  VaultOperation: [
    { name: 'userOpHash', type: 'bytes32' },
    { name: 'validUntil', type: 'uint48' },
  ],
} as const;
const VETO = {
  VetoRecovery: [
    { name: 'id', type: 'uint32' },
    { name: 'x', type: 'uint256' },
    { name: 'y', type: 'uint256' },
  ],
} as const;
