import { createHash } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { type Enclave, openEnclave } from './enclave.ts';
import type { Seeds } from './enclave-arguments.ts';

/** Arguments with which the calls that read a format succeed. */
export function makeSeeds(): Seeds {
  const { call, put, get } = openEnclave();
  const text = (value: string) => new TextEncoder().encode(value);
  const secret = new Uint8Array(32).fill(0x5e);
  call.key_new(0, put(0, new Uint8Array(48).fill(9)), 48);
  const box = get(1024, call.key_seal(0, put(0, secret), 32, put(64, new Uint8Array(44).fill(3)), 1024));
  const entropy = new Uint8Array(8 + 2 * box.length).fill(4);
  const n = call.share_split(put(1024, box), box.length, 2, 3, put(2048, entropy), 4096);
  const shares = get(4096, 2 * n);
  const point = p256.getPublicKey(new Uint8Array(32).fill(9), false);
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    point.subarray(1, 33),
    Buffer.from('225820', 'hex'),
    point.subarray(33),
  ]);
  const digest = createHash('sha256').update('x').digest();
  const options = { prehash: false } as const;
  const raw = p256.sign(digest, new Uint8Array(32).fill(9), options);
  const der = p256.Signature.fromBytes(raw).toBytes('der');
  return {
    cose_p256: { 0: cose },
    der_to_raw: { 0: der },
    p256_verify: { 0: point.subarray(1), 1: digest, 2: raw },
    webauthn_pack: { 0: new Uint8Array(37), 2: text('{"type":"webauthn.get","challenge":"x"}'), 4: raw },
    chacha20poly1305_open: { 0: secret, 1: new Uint8Array(12), 2: new Uint8Array(0), 4: sealed(secret) },
    key_new: { 0: 1, 1: new Uint8Array(48).fill(8) },
    key_sign: { 0: 0, 1: digest },
    ucan_sign: { 0: 1, 1: text('a payload') },
    key_seal: { 0: 0, 1: secret, 3: new Uint8Array(44).fill(6) },
    key_open: { 0: box, 2: secret },
    share_xor_split: { 0: box, 2: entropy },
    share_split: { 0: box, 2: 3, 3: 5, 4: entropy },
    share_join: { 0: shares, 1: 2, 2: n },
  };
}

function sealed(key: Uint8Array): Uint8Array {
  const { call, put, get }: Enclave = openEnclave();
  return get(200, call.chacha20poly1305_seal(put(0, key), 32, 0, 0, 100, 50, 200));
}
