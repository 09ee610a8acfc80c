// FIPS 180-4: SHA-512, one stream at a time.

// Words of 64 bits, the lower half first.
const ROUND = memory.data<u32>([
  0xd728ae22, 0x428a2f98, 0x23ef65cd, 0x71374491, 0xec4d3b2f, 0xb5c0fbcf, 0x8189dbbc, 0xe9b5dba5, 0xf348b538,
  0x3956c25b, 0xb605d019, 0x59f111f1, 0xaf194f9b, 0x923f82a4, 0xda6d8118, 0xab1c5ed5, 0xa3030242, 0xd807aa98,
  0x45706fbe, 0x12835b01, 0x4ee4b28c, 0x243185be, 0xd5ffb4e2, 0x550c7dc3, 0xf27b896f, 0x72be5d74, 0x3b1696b1,
  0x80deb1fe, 0x25c71235, 0x9bdc06a7, 0xcf692694, 0xc19bf174, 0x9ef14ad2, 0xe49b69c1, 0x384f25e3, 0xefbe4786,
  0x8b8cd5b5, 0x0fc19dc6, 0x77ac9c65, 0x240ca1cc, 0x592b0275, 0x2de92c6f, 0x6ea6e483, 0x4a7484aa, 0xbd41fbd4,
  0x5cb0a9dc, 0x831153b5, 0x76f988da, 0xee66dfab, 0x983e5152, 0x2db43210, 0xa831c66d, 0x98fb213f, 0xb00327c8,
  0xbeef0ee4, 0xbf597fc7, 0x3da88fc2, 0xc6e00bf3, 0x930aa725, 0xd5a79147, 0xe003826f, 0x06ca6351, 0x0a0e6e70,
  0x14292967, 0x46d22ffc, 0x27b70a85, 0x5c26c926, 0x2e1b2138, 0x5ac42aed, 0x4d2c6dfc, 0x9d95b3df, 0x53380d13,
  0x8baf63de, 0x650a7354, 0x3c77b2a8, 0x766a0abb, 0x47edaee6, 0x81c2c92e, 0x1482353b, 0x92722c85, 0x4cf10364,
  0xa2bfe8a1, 0xbc423001, 0xa81a664b, 0xd0f89791, 0xc24b8b70, 0x0654be30, 0xc76c51a3, 0xd6ef5218, 0xd192e819,
  0x5565a910, 0xd6990624, 0x5771202a, 0xf40e3585, 0x32bbd1b8, 0x106aa070, 0xb8d2d0c8, 0x19a4c116, 0x5141ab53,
  0x1e376c08, 0xdf8eeb99, 0x2748774c, 0xe19b48a8, 0x34b0bcb5, 0xc5c95a63, 0x391c0cb3, 0xe3418acb, 0x4ed8aa4a,
  0x7763e373, 0x5b9cca4f, 0xd6b2b8a3, 0x682e6ff3, 0x5defb2fc, 0x748f82ee, 0x43172f60, 0x78a5636f, 0xa1f0ab72,
  0x84c87814, 0x1a6439ec, 0x8cc70208, 0x23631e28, 0x90befffa, 0xde82bde9, 0xa4506ceb, 0xb2c67915, 0xbef9a3f7,
  0xe372532b, 0xc67178f2, 0xea26619c, 0xca273ece, 0x21c0c207, 0xd186b8c7, 0xcde0eb1e, 0xeada7dd6, 0xee6ed178,
  0xf57d4f7f, 0x72176fba, 0x06f067aa, 0xa2c898a6, 0x0a637dc5, 0xbef90dae, 0x113f9804, 0x131c471b, 0x1b710b35,
  0x23047d84, 0x28db77f5, 0x40c72493, 0x32caab7b, 0x15c9bebc, 0x3c9ebe0a, 0x9c100d4c, 0x431d67c4, 0xcb3e42b6,
  0x4cc5d4be, 0xfc657e2a, 0x597f299c, 0x3ad6faec, 0x5fcb6fab, 0x4a475817, 0x6c44198c,
]);
const START = memory.data<u32>([
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a, 0xade682d1,
  0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
]);
const STATE = memory.data(64);
const PENDING = memory.data(128);
const SCHEDULE = memory.data(640);

let taken: u64 = 0;

/** Restarts the stream. */
export function sha512Init(): void {
  memory.copy(STATE, START, 64);
  taken = 0;
}

/** Takes in `n` bytes at `p`. */
export function sha512Update(p: usize, n: usize): void {
  let filled = <usize>(taken & 127);
  taken += n;
  while (n > 0) {
    const part = min<usize>(128 - filled, n);
    memory.copy(PENDING + filled, p, part);
    filled += part;
    p += part;
    n -= part;
    if (filled === 128) {
      block();
      filled = 0;
    }
  }
}

/** Writes the 64 bytes of the digest, and forgets the stream. */
export function sha512Final(out: usize): void {
  const filled = <usize>(taken & 127);
  store<u8>(PENDING + filled, 0x80);
  memory.fill(PENDING + filled + 1, 0, 127 - filled);
  if (filled >= 112) {
    block();
    memory.fill(PENDING, 0, 128);
  }
  store<u64>(PENDING, bswap<u64>(taken << 3), 120);
  block();
  for (let i: usize = 0; i < 64; i += 8) store<u64>(out + i, bswap<u64>(load<u64>(STATE + i)));
  memory.fill(STATE, 0, 64);
  memory.fill(PENDING, 0, 128);
  memory.fill(SCHEDULE, 0, 640);
}

function block(): void {
  for (let i: usize = 0; i < 128; i += 8) store<u64>(SCHEDULE + i, bswap<u64>(load<u64>(PENDING + i)));
  for (let i: usize = 128; i < 640; i += 8) {
    const w15 = load<u64>(SCHEDULE + i - 120);
    const w2 = load<u64>(SCHEDULE + i - 16);
    const s0 = rotr<u64>(w15, 1) ^ rotr<u64>(w15, 8) ^ (w15 >> 7);
    const s1 = rotr<u64>(w2, 19) ^ rotr<u64>(w2, 61) ^ (w2 >> 6);
    store<u64>(SCHEDULE + i, load<u64>(SCHEDULE + i - 128) + s0 + load<u64>(SCHEDULE + i - 56) + s1);
  }
  let a = load<u64>(STATE);
  let b = load<u64>(STATE, 8);
  let c = load<u64>(STATE, 16);
  let d = load<u64>(STATE, 24);
  let e = load<u64>(STATE, 32);
  let f = load<u64>(STATE, 40);
  let g = load<u64>(STATE, 48);
  let h = load<u64>(STATE, 56);
  for (let i: usize = 0; i < 640; i += 8) {
    const s1 = rotr<u64>(e, 14) ^ rotr<u64>(e, 18) ^ rotr<u64>(e, 41);
    const t1 = h + s1 + (g ^ (e & (f ^ g))) + load<u64>(ROUND + i) + load<u64>(SCHEDULE + i);
    const s0 = rotr<u64>(a, 28) ^ rotr<u64>(a, 34) ^ rotr<u64>(a, 39);
    const t2 = s0 + ((a & b) | (c & (a | b)));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  store<u64>(STATE, load<u64>(STATE) + a);
  store<u64>(STATE, load<u64>(STATE, 8) + b, 8);
  store<u64>(STATE, load<u64>(STATE, 16) + c, 16);
  store<u64>(STATE, load<u64>(STATE, 24) + d, 24);
  store<u64>(STATE, load<u64>(STATE, 32) + e, 32);
  store<u64>(STATE, load<u64>(STATE, 40) + f, 40);
  store<u64>(STATE, load<u64>(STATE, 48) + g, 48);
  store<u64>(STATE, load<u64>(STATE, 56) + h, 56);
}
