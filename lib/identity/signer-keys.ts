import { sha256 } from '@noble/hashes/sha2.js';
import * as P256 from 'ox/P256';
import { concat, fromBase64, toHex } from '../base/bytes.ts';
import { type Assertion, rawSignatureOf } from './passkey.ts';

/**
 * The two keys of which one made an assertion (SEC 1 section 4.1.6), each 0x and x‖y in hex; empty for a signature that
 * no key can have made. Nobody knows the private half of the other one.
 */
export function signerKeys(assertion: Assertion): readonly string[] {
  const [data, client] = [fromBase64(assertion.authenticatorData), fromBase64(assertion.clientDataJSON)];
  const raw = rawSignatureOf(assertion);
  if (!data || !client || !raw) return [];
  const payload = sha256(concat(data, sha256(client)));
  const [r, s] = [numberOf(raw.subarray(0, 32)), numberOf(raw.subarray(32))];
  try {
    return [0, 1].map((yParity) => {
      const { x, y } = P256.recoverPublicKey({ payload, signature: { r, s, yParity } });
      return x + y.slice(2);
    });
  } catch {
    return [];
  }
}

function numberOf(bytes: Uint8Array): `0x${string}` {
  return `0x${toHex(bytes)}`;
}
