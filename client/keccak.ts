/** Bytes of a block: 1,600 bits less twice the hash's 256. */
const RATE = 136;

/**
 * keccak256, as Ethereum uses it. It takes no constant time, so it is for public values: secrets are the enclave's. A
 * page that hashes by it needs no WebAssembly.
 */
export function keccak256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array((Math.floor(bytes.length / RATE) + 1) * RATE);
  padded.set(bytes);
  const blocks = new DataView(padded.buffer);
  // One bit behind the message and one at the end of the block, which may be the same byte.
  blocks.setUint8(bytes.length, 1);
  blocks.setUint8(padded.length - 1, blocks.getUint8(padded.length - 1) | 0x80);
  const lanes = new BigUint64Array(25);
  for (let start = 0; start < padded.length; start += RATE) {
    for (let i = 0; i < RATE / 8; i++) lanes[i] = of(lanes, i) ^ blocks.getBigUint64(start + 8 * i, true);
    permute(lanes);
  }
  const hash = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 4; i++) hash.setBigUint64(8 * i, of(lanes, i), true);
  return new Uint8Array(hash.buffer);
}

/** Keccak-f[1600]; lane (x, y) is at x + 5y. */
function permute(lanes: BigUint64Array): void {
  let bits = 1;
  for (let round = 0; round < 24; round++) {
    const columns = FIVE.map((x) => FIVE.reduce((sum, y) => sum ^ of(lanes, x + 5 * y), 0n));
    for (let i = 0; i < 25; i++) {
      lanes[i] = of(lanes, i) ^ of(columns, (i + 4) % 5) ^ rotate(of(columns, (i + 1) % 5), 1);
    }
    let [x, y, moved] = [1, 0, of(lanes, 1)];
    for (let step = 1; step < 25; step++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const at = x + 5 * y;
      const next = of(lanes, at);
      lanes[at] = rotate(moved, ((step * (step + 1)) / 2) % 64);
      moved = next;
    }
    for (let row = 0; row < 25; row += 5) {
      const old = lanes.slice(row, row + 5);
      for (const i of FIVE) lanes[row + i] = of(old, i) ^ (~of(old, (i + 1) % 5) & of(old, (i + 2) % 5));
    }
    // The round's constant: bits 2^j − 1, by a shift register (FIPS 202 section 3.2.5).
    for (let j = 0; j < 7; j++) {
      if (bits & 1) lanes[0] = of(lanes, 0) ^ (1n << BigInt(2 ** j - 1));
      bits = (bits << 1) ^ ((bits >> 7) * 0x171);
    }
  }
}

const FIVE = [0, 1, 2, 3, 4];

function of(lanes: ArrayLike<bigint>, index: number): bigint {
  return lanes[index] as bigint;
}

/** A lane holds 64 bits: higher bits are cut off where it is stored. */
function rotate(lane: bigint, by: number): bigint {
  return (lane << BigInt(by)) | (lane >> BigInt(64 - by));
}
