// FIPS 180-4: SHA-256, in one call or as a stream.

/** Bytes of a stream's state: chaining value (32), pending block (64), bytes taken in (8). */
export const SHA256_STATE_BYTES: usize = 104;

const PENDING: usize = 32;
const TAKEN: usize = 96;

const ONCE = memory.data(104);
const SCHEDULE = memory.data(256);

const ROUND = memory.data<u32>([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);

/**
 * Hashes `n` bytes at `p` into the 32 bytes at `out`, which may overlap the input. Leaves nothing of the input behind.
 */
export function sha256(p: usize, n: usize, out: usize): void {
  sha256Init(ONCE);
  sha256Update(ONCE, p, n);
  sha256Final(ONCE, out);
}

/** Starts a stream in the state at `state`. */
export function sha256Init(state: usize): void {
  store<u32>(state, 0x6a09e667, 0);
  store<u32>(state, 0xbb67ae85, 4);
  store<u32>(state, 0x3c6ef372, 8);
  store<u32>(state, 0xa54ff53a, 12);
  store<u32>(state, 0x510e527f, 16);
  store<u32>(state, 0x9b05688c, 20);
  store<u32>(state, 0x1f83d9ab, 24);
  store<u32>(state, 0x5be0cd19, 28);
  store<u64>(state, 0, TAKEN);
}

/** Takes in `n` bytes at `p`. */
export function sha256Update(state: usize, p: usize, n: usize): void {
  const pending = <usize>load<u64>(state, TAKEN) & 63;
  store<u64>(state, load<u64>(state, TAKEN) + <u64>n, TAKEN);
  if (pending > 0) {
    const part = min<usize>(n, 64 - pending);
    memory.copy(state + PENDING + pending, p, part);
    if (pending + part < 64) return;
    compress(state, state + PENDING);
    p += part;
    n -= part;
  }
  while (n >= 64) {
    compress(state, p);
    p += 64;
    n -= 64;
  }
  memory.copy(state + PENDING, p, n);
}

/** Writes the hash of the stream's input to `out` and wipes the state. */
export function sha256Final(state: usize, out: usize): void {
  const bits = load<u64>(state, TAKEN) << 3;
  let pending = <usize>load<u64>(state, TAKEN) & 63;
  store<u8>(state + PENDING + pending++, 0x80);
  memory.fill(state + PENDING + pending, 0, 64 - pending);
  if (pending > 56) {
    compress(state, state + PENDING);
    memory.fill(state + PENDING, 0, 56);
  }
  store<u64>(state + PENDING, bswap<u64>(bits), 56);
  compress(state, state + PENDING);
  for (let i: usize = 0; i < 32; i += 4) store<u32>(out + i, bswap<u32>(load<u32>(state + i)));
  memory.fill(state, 0, SHA256_STATE_BYTES);
  memory.fill(SCHEDULE, 0, 256);
}

/** Section 6.2.2, for the block at `block`. */
function compress(state: usize, block: usize): void {
  expand(block);
  let a = load<u32>(state, 0);
  let b = load<u32>(state, 4);
  let c = load<u32>(state, 8);
  let d = load<u32>(state, 12);
  let e = load<u32>(state, 16);
  let f = load<u32>(state, 20);
  let g = load<u32>(state, 24);
  let h = load<u32>(state, 28);
  for (let i: usize = 0; i < 256; i += 4) {
    const sigma1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
    const t1 = h + sigma1 + (g ^ (e & (f ^ g))) + load<u32>(ROUND + i) + load<u32>(SCHEDULE + i);
    const sigma0 = rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22);
    const t2 = sigma0 + ((a & b) | (c & (a | b)));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  store<u32>(state, load<u32>(state, 0) + a, 0);
  store<u32>(state, load<u32>(state, 4) + b, 4);
  store<u32>(state, load<u32>(state, 8) + c, 8);
  store<u32>(state, load<u32>(state, 12) + d, 12);
  store<u32>(state, load<u32>(state, 16) + e, 16);
  store<u32>(state, load<u32>(state, 20) + f, 20);
  store<u32>(state, load<u32>(state, 24) + g, 24);
  store<u32>(state, load<u32>(state, 28) + h, 28);
}

function expand(block: usize): void {
  for (let i: usize = 0; i < 64; i += 4) store<u32>(SCHEDULE + i, bswap<u32>(load<u32>(block + i)));
  for (let i: usize = SCHEDULE + 64; i < SCHEDULE + 256; i += 4) {
    const w15 = load<u32>(i - 60);
    const w2 = load<u32>(i - 8);
    const sigma0 = rotr<u32>(w15, 7) ^ rotr<u32>(w15, 18) ^ (w15 >>> 3);
    const sigma1 = rotr<u32>(w2, 17) ^ rotr<u32>(w2, 19) ^ (w2 >>> 10);
    store<u32>(i, load<u32>(i - 64) + sigma0 + load<u32>(i - 28) + sigma1);
  }
}
