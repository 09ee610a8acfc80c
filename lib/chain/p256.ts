import type { ChainReader } from './rpc.ts';

/**
 * Whether the chain verifies P-256 by a precompile (RIP-7212, EIP-7951); without it an account does so in Solidity, for
 * some 250,000 gas more. Throws 502 `rpc_error`.
 */
export async function readP256Precompile({ config, rpc }: ChainReader): Promise<boolean> {
  return isVerified(await rpc.call(config.chainId, 'eth_call', [P256_PROBE, 'latest']));
}

/**
 * Whether the code at the precompile's address accepts a wrong signature: there anybody signs for anybody. Throws 502
 * `rpc_error`.
 */
export async function takesBadSignatures({ config, rpc }: ChainReader): Promise<boolean> {
  return isVerified(await rpc.call(config.chainId, 'eth_call', [BAD_PROBE, 'latest']));
}

/** Whether this is the answer of a precompile to `P256_PROBE`: an address without code answers nothing. */
export function isVerified(answer: unknown): boolean {
  return typeof answer === 'string' && /^0x0{63}1$/.test(answer);
}

/** SHA-256 of `vault`, then r, s of its signature by the private key 1, then that key: the curve's generator. */
const SIGNED = [
  '0xe6f0a1fbb43c89196dcfcbef85908f19ab4c5f7cc4f4c452284697757683d7ef',
  'a025611ac068f76a4a15e2519c81e38efed2499d9b5ef31ca14682c1a343f544',
  '6650ba6d4bf8a94c6c778cefa9ed337d65ea8afee377f9c96d95ab5517fb41fe',
  '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
  '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
].join('');

/** A call that a precompile for P-256 answers with 1. */
export const P256_PROBE = { to: '0x0000000000000000000000000000000000000100', data: SIGNED };
/** The same signature of another text. */
const BAD_PROBE = { ...P256_PROBE, data: SIGNED.replace('0xe6', '0xe7') };
