/**
 * Transactions of type 2 (EIP-1559), signed with secp256k1. Loading this file takes some 20 ms, so only a vault that
 * relays does.
 */
import { keccak_256 } from '@noble/hashes/sha3.js';
import * as Address from 'ox/Address';
import * as Hex from 'ox/Hex';
import * as Secp256k1 from 'ox/Secp256k1';
import * as TxEnvelopeEip1559 from 'ox/TxEnvelopeEip1559';
import type { TransactionFees } from './fees.ts';

/** A transaction to sign; it moves no ether. */
export interface UnsignedTransaction extends TransactionFees {
  readonly chainId: number;
  readonly nonce: number;
  readonly to: string;
  readonly data: string;
  readonly gas: bigint;
}

/** The bytes to broadcast and their hash, 0x-hex. */
export interface SignedTransaction {
  readonly raw: string;
  readonly hash: string;
}

/** Signs a transaction; the same one always gets the same bytes (RFC 6979). */
export function signTransaction(unsigned: UnsignedTransaction, privateKey: Hex.Hex): SignedTransaction {
  const envelope = TxEnvelopeEip1559.from({
    chainId: unsigned.chainId,
    nonce: BigInt(unsigned.nonce),
    to: unsigned.to as Address.Address,
    data: unsigned.data as Hex.Hex,
    gas: unsigned.gas,
    maxFeePerGas: unsigned.maxFee,
    maxPriorityFeePerGas: unsigned.tip,
  });
  const signature = Secp256k1.sign({ payload: TxEnvelopeEip1559.getSignPayload(envelope), privateKey });
  const raw = TxEnvelopeEip1559.serialize(envelope, { signature });
  return { raw, hash: Hex.fromBytes(keccak_256(Hex.toBytes(raw))) };
}

/** The address of a private key, lower-case. */
export function signerAddress(privateKey: Hex.Hex): string {
  return Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey })).toLowerCase();
}
