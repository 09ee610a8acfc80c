import { describe, expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { manyTimes } from '../../support/draw.ts';
import { openEnclave, REFUSED } from '../../support/enclave.ts';
import { isLong } from '../../support/long.ts';

const DRAWS = isLong ? 10_000 : 1_000;

const { call, put, get } = openEnclave();
const [KEY, SALT, INPUT, OUT] = [0, 1024, 2048, 8000];
const ascii = (text: string) => new TextEncoder().encode(text);
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');

function sha256(input: Uint8Array): string {
  call.sha256(put(INPUT, input), input.length, OUT);
  return hex(get(OUT, 32));
}

function keccak256(input: Uint8Array): string {
  call.keccak256(put(INPUT, input), input.length, OUT);
  return hex(get(OUT, 32));
}

function hmac(key: Uint8Array, input: Uint8Array): string {
  call.hmac_sha256(put(KEY, key), key.length, put(INPUT, input), input.length, OUT);
  return hex(get(OUT, 32));
}

function derive(ikm: Uint8Array, salt: Uint8Array, info: Uint8Array, n: number): string {
  const from = put(KEY, ikm);
  call.hkdf_sha256(from, ikm.length, put(SALT, salt), salt.length, put(INPUT, info), info.length, 4096, n);
  return hex(get(4096, n));
}

/** Takes the input in, in pieces of random lengths. */
function stream(name: 'sha256' | 'keccak256', input: Uint8Array, piece: () => number): string {
  call[`${name}_init`]();
  for (let at = 0; at < input.length; ) {
    const part = input.subarray(at, at + piece());
    expect(call[`${name}_update`](put(INPUT, part), part.length)).toBe(0);
    at += part.length;
  }
  expect(call[`${name}_final`](OUT)).toBe(0);
  return hex(get(OUT, 32));
}

test('SHA-256: FIPS 180-4 with the examples of its appendix', () => {
  expect(sha256(ascii('abc'))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(sha256(ascii(''))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(sha256(ascii('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'))).toBe(
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  );
  const million = new Uint8Array(1_000_000).fill(0x61);
  expect(stream('sha256', million, () => 5000)).toBe(
    'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
  );
});

test('Keccak-256 has the padding of Ethereum, not of SHA-3', () => {
  expect(keccak256(ascii(''))).toBe('c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  expect(keccak256(ascii('abc'))).toBe('4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45');
  expect(keccak256(ascii('Transfer(address,address,uint256)'))).toBe(
    'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  );
});

/** RFC 4231 section 4: key, data, MAC. */
const RFC_4231: [string, Uint8Array, Uint8Array, string][] = [
  ['1', bytes('0b'.repeat(20)), ascii('Hi There'), 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    '2, a key shorter than the hash',
    ascii('Jefe'),
    ascii('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    '3',
    bytes('aa'.repeat(20)),
    bytes('dd'.repeat(50)),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  ],
  [
    '4',
    bytes('0102030405060708090a0b0c0d0e0f10111213141516171819'),
    bytes('cd'.repeat(50)),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  [
    '5, a MAC cut to 128 bits',
    bytes('0c'.repeat(20)),
    ascii('Test With Truncation'),
    'a3b6167473100ee06e0c796c2955552b',
  ],
  [
    '6, a key longer than a block',
    bytes('aa'.repeat(131)),
    ascii('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    '7, key and data longer than a block',
    bytes('aa'.repeat(131)),
    ascii(
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
];

test.each(RFC_4231)('HMAC-SHA-256: RFC 4231 test case %s', (_name, key, data, mac) => {
  expect(hmac(key, data).slice(0, mac.length)).toBe(mac);
  expect(hex(get(KEY, key.length))).toBe('00'.repeat(key.length));
});

test('HKDF-SHA-256: RFC 5869 appendix A', () => {
  const ikm = bytes('0b'.repeat(22));
  expect(derive(ikm, bytes('000102030405060708090a0b0c'), bytes('f0f1f2f3f4f5f6f7f8f9'), 42)).toBe(
    '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865',
  );
  expect(hex(get(KEY, 22))).toBe('00'.repeat(22));
  const run = (from: number) => Uint8Array.from({ length: 80 }, (_, i) => from + i);
  expect(derive(run(0), run(0x60), run(0xb0), 82)).toBe(
    'b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87',
  );
  expect(derive(ikm, bytes(''), bytes(''), 42)).toBe(
    '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
  );
});

describe(`${DRAWS} draws`, () => {
  test('SHA-256 and HMAC as node:crypto', () => {
    manyTimes(DRAWS, (draw) => {
      const [key, input] = [draw.upTo(150), draw.upTo(300)];
      expect(sha256(input)).toBe(createHash('sha256').update(input).digest('hex'));
      expect(hmac(key, input)).toBe(createHmac('sha256', key).update(input).digest('hex'));
    });
  });

  test('Keccak-256 as @noble/hashes', () => {
    manyTimes(DRAWS, (draw) => {
      const input = draw.upTo(400);
      expect(keccak256(input)).toBe(hex(keccak_256(input)));
    });
  });

  test('HKDF as @noble/hashes', () => {
    manyTimes(DRAWS, (draw) => {
      const [ikm, salt, info, n] = [draw.upTo(80), draw.upTo(80), draw.upTo(80), draw.below(100)];
      expect(derive(ikm, salt, info, n)).toBe(hex(n === 0 ? new Uint8Array() : hkdf(nobleSha256, ikm, salt, info, n)));
    });
  });

  test('streams of any pieces as the hash of the whole', () => {
    manyTimes(DRAWS, (draw) => {
      const input = draw.upTo(500);
      const piece = () => 1 + draw.below(200);
      expect(stream('sha256', input, piece)).toBe(createHash('sha256').update(input).digest('hex'));
      expect(stream('keccak256', input, piece)).toBe(hex(keccak_256(input)));
    });
  });
});

test('a stream is hashed longer than the window, and no other call disturbs it', () => {
  const long = new Uint8Array(100_000).map((_, i) => i);
  call.sha256_init();
  call.keccak256_init();
  for (let at = 0; at < long.length; at += 4000) {
    const part = long.subarray(at, at + 4000);
    call.sha256_update(put(INPUT, part), part.length);
    call.keccak256_update(INPUT, part.length);
    expect(sha256(part)).toBe(createHash('sha256').update(part).digest('hex'));
    expect(keccak256(part)).toBe(hex(keccak_256(part)));
  }
  call.sha256_final(OUT);
  expect(hex(get(OUT, 32))).toBe(createHash('sha256').update(long).digest('hex'));
  call.keccak256_final(OUT);
  expect(hex(get(OUT, 32))).toBe(hex(keccak_256(long)));
});

test('a stream that ended is not one, and one that starts again forgets', () => {
  expect([call.sha256_update(0, 1), call.sha256_final(0)]).toEqual([REFUSED.stream, REFUSED.stream]);
  expect([call.keccak256_update(0, 1), call.keccak256_final(0)]).toEqual([REFUSED.stream, REFUSED.stream]);
  call.sha256_init();
  call.sha256_update(0, 100);
  expect(stream('sha256', ascii('abc'), () => 2)).toBe(hex(nobleSha256(ascii('abc'))));
});

test('HKDF makes 255 hashes at most, into nearly all of the window', () => {
  const ikm = ascii('input key material');
  call.hkdf_sha256(put(8170, ikm), ikm.length, 0, 0, 0, 0, 0, 8160);
  expect(hex(get(0, 8160))).toBe(hex(hkdf(nobleSha256, ikm, undefined, undefined, 8160)));
});

test('HKDF refuses what it has no room for, and wipes all the same', () => {
  put(KEY, bytes('ff'.repeat(32)));
  expect(call.hkdf_sha256(KEY, 32, 0, 0, 0, 1025, 0, 32)).toBe(REFUSED.length);
  expect(hex(get(KEY, 32))).toBe('00'.repeat(32));
  expect(call.hkdf_sha256(8160, 32, 0, 0, 0, 0, 0, 8161)).toBe(REFUSED.length);
});

test('an output may overlap the input', () => {
  put(INPUT, ascii('abc'));
  call.sha256(INPUT, 3, INPUT);
  expect(hex(get(INPUT, 32))).toStartWith('ba7816bf');
  put(INPUT, ascii('abc'));
  call.keccak256(INPUT, 3, INPUT + 1);
  expect(hex(get(INPUT + 1, 32))).toStartWith('4e03657a');
});
