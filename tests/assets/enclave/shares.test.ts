import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { type Draw, manyTimes } from '../../support/draw.ts';
import { openEnclave, REFUSED } from '../../support/enclave.ts';

const { call, put, get } = openEnclave();
const [BOX, ENTROPY, SHARES] = [0, 512, 4096];
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');

/** Draws nothing but the first of everything. */
const NO_DRAW: Draw = {
  below: () => 0,
  bytes: (n) => new Uint8Array(n).fill(1),
  upTo: () => new Uint8Array(),
  bits: () => 0n,
};

/** What has the outside of a sealed box; more the sharing does not look at. */
function drawBox(draw: Draw): Uint8Array {
  const curve = draw.below(3);
  return Uint8Array.of(0x56, 0x4b, 0x42, 1, curve, ...draw.bytes(curve === 2 ? 124 : 156));
}

function split(box: Uint8Array, threshold: number, count: number, draw: Draw): Uint8Array[] {
  put(ENTROPY, draw.bytes(8 + (threshold - 1) * box.length));
  const n = call.share_split(put(BOX, box), box.length, threshold, count, ENTROPY, SHARES);
  return Array.from({ length: count }, (_, i) => get(SHARES + i * n, n));
}

function splitXor(box: Uint8Array, draw: Draw): Uint8Array[] {
  put(ENTROPY, draw.bytes(8 + box.length));
  const n = call.share_xor_split(put(BOX, box), box.length, ENTROPY, SHARES);
  return [get(SHARES, n), get(SHARES + n, n)];
}

/** The box, or why not. */
function join(shares: readonly Uint8Array[]): string | number {
  put(SHARES, Buffer.concat(shares));
  const n = call.share_join(SHARES, shares.length, shares[0]?.length ?? 0, BOX);
  return n < 0 ? n : hex(get(BOX, n));
}

function shuffle<T>(items: readonly T[], draw: Draw): T[] {
  return items
    .map((item) => [draw.below(2 ** 30), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** Computes the check of a share again, as its holder can. */
function mend(share: Uint8Array): void {
  share.set(createHash('sha256').update(share.subarray(0, -8)).digest().subarray(0, 8), share.length - 8);
}

/** A share with a byte changed, and its check mended. */
function mended(share: Uint8Array, at: number, difference: number): Uint8Array {
  const altered = share.with(at, (share[at] ?? 0) ^ difference);
  mend(altered);
  return altered;
}

/** A share as it was before there were marks. */
function asVersion1(share: Uint8Array): Uint8Array {
  const old = Uint8Array.of(...share.subarray(0, -24), ...new Uint8Array(8)).with(3, 1);
  mend(old);
  return old;
}

/** Shamir as the book has it: products by long multiplication, the value at zero by Lagrange. */
function joinHere(shares: readonly Uint8Array[]): string {
  const product = (a: number, b: number): number => {
    let sum = 0;
    for (let i = 0; i < 8; i++) if (b & (1 << i)) sum ^= a << i;
    for (let i = 14; i >= 8; i--) if (sum & (1 << i)) sum ^= 0x11b << (i - 8);
    return sum;
  };
  const inverse = (a: number) => Array.from({ length: 256 }, (_, b) => b).find((b) => product(a, b) === 1) ?? 0;
  const xs = shares.map((share) => share[7] ?? 0);
  const weights = xs.map((x) =>
    xs.filter((other) => other !== x).reduce((w, o) => product(w, product(o, inverse(o ^ x))), 1),
  );
  const body = Array.from({ length: (shares[0]?.length ?? 40) - 40 }, (_, at) =>
    shares.reduce((sum, share, i) => sum ^ product(weights[i] ?? 0, share[16 + at] ?? 0), 0),
  );
  return hex(Uint8Array.from(body));
}

describe('Shamir', () => {
  test('any shares as many as the threshold, in any order, make the box again; so does the book', () => {
    manyTimes(500, (draw) => {
      const count = 2 + draw.below(15);
      const threshold = 2 + draw.below(count - 1);
      const box = drawBox(draw);
      const shares = split(box, threshold, count, draw);
      const some = shuffle(shares, draw).slice(0, threshold + draw.below(count - threshold + 1));
      expect(join(some)).toBe(hex(box));
      if (draw.below(10) === 0) expect(joinHere(some)).toBe(hex(box));
    });
  });

  test('fewer are refused', () => {
    manyTimes(100, (draw) => {
      const shares = split(drawBox(draw), 5, 8, draw);
      expect(join(shuffle(shares, draw).slice(0, 2 + draw.below(3)))).toBe(REFUSED.shares);
    });
  });

  test('less than the threshold says nothing but a hash: any box fits to the body of one share of two', () => {
    manyTimes(50, (draw) => {
      const [box, other] = [drawBox(draw), drawBox(draw)];
      if (box.length !== other.length) return;
      const [first] = split(box, 2, 2, draw);
      // The slope that leads from the other box to the same share.
      const body = (first ?? box).subarray(16, 16 + box.length);
      const slope = body.map((byte, i) => byte ^ (other[i] ?? 0));
      put(ENTROPY, Uint8Array.of(...(first ?? box).subarray(8, 16), ...slope));
      call.share_split(put(BOX, other), other.length, 2, 2, ENTROPY, SHARES);
      expect(hex(get(SHARES, 16 + body.length))).toBe(hex((first ?? box).subarray(0, 16 + body.length)));
    });
  });

  test.each([
    [1, 3],
    [0, 3],
    [4, 3],
    [2, 17],
    [2 ** 32 - 1, 2 ** 32 - 1],
  ])('%d of %d is refused', (threshold, count) => {
    expect(call.share_split(BOX, 161, threshold, count, ENTROPY, SHARES)).toBe(REFUSED.length);
  });
});

describe('XOR of two', () => {
  test('both make the box again, one does not', () => {
    manyTimes(500, (draw) => {
      const box = drawBox(draw);
      const shares = splitXor(box, draw);
      expect(join(shuffle(shares, draw))).toBe(hex(box));
      const bodies = shares.map((share) => share.subarray(16, 16 + box.length));
      expect(hex(box.map((_, i) => (bodies[0]?.[i] ?? 0) ^ (bodies[1]?.[i] ?? 0)))).toBe(hex(box));
      expect(join([shares[0] ?? box, shares[0] ?? box])).toBe(REFUSED.shares);
    });
  });
});

describe('wrong shares', () => {
  test('of different splits, or of different ways, are refused', () => {
    manyTimes(100, (draw) => {
      const box = drawBox(draw);
      const [one, other, both] = [split(box, 2, 3, draw), split(box, 2, 3, draw), splitXor(box, draw)];
      expect(join([one[0] ?? box, other[1] ?? box])).toBe(REFUSED.shares);
      expect(join([one[0] ?? box, both[1] ?? box])).toBe(REFUSED.shares);
    });
  });

  test('one of them twice, or thrice so that it counts once in the sum, are refused', () => {
    manyTimes(50, (draw) => {
      const [one, two] = split(drawBox(draw), 2, 2, draw);
      if (!one || !two) throw new Error('There are two shares');
      expect([join([one, one]), join([one, two, one]), join([one, two, one, one])]).toEqual(
        Array(3).fill(REFUSED.shares),
      );
    });
  });

  test('the same one as often as the threshold asks is refused, even one that is the box', () => {
    const box = drawBox({ ...NO_DRAW, bytes: (n) => new Uint8Array(n).fill(0x5a) });
    // Two equal coefficients cancel out at 1, so that the first share holds the box itself.
    put(ENTROPY, new Uint8Array(8 + 2 * box.length).fill(7));
    const n = call.share_split(put(BOX, box), box.length, 3, 3, ENTROPY, SHARES);
    const one = get(SHARES, n);
    expect(hex(one.subarray(16, 16 + box.length))).toBe(hex(box));
    expect(join([one, one, one])).toBe(REFUSED.shares);
  });

  test('with any bit changed are refused', () => {
    manyTimes(1000, (draw) => {
      const shares = draw.below(2) ? splitXor(drawBox(draw), draw) : split(drawBox(draw), 3, 3, draw);
      const target = shares[draw.below(shares.length)] ?? new Uint8Array(1);
      const at = draw.below(target.length);
      target[at] = (target[at] ?? 0) ^ (1 << draw.below(8));
      expect(join(shares)).toBe(REFUSED.shares);
    });
  });

  test.each([
    [0, 185],
    [1, 185],
    [17, 185],
    [2, 24],
    [2, 0],
  ])('%d of %d bytes are none', (count, n) => {
    expect(call.share_join(SHARES, count, n, BOX)).toBe(REFUSED.length);
  });

  test('as long as the window are refused, and longer ones trap', () => {
    expect(call.share_join(0, 2, 4096, 0)).toBe(REFUSED.shares);
    expect(() => call.share_join(0, 2, 4097, 0)).toThrow(WebAssembly.RuntimeError);
    expect(() => call.share_join(0, 16, 2 ** 28 + 30, 0)).toThrow(WebAssembly.RuntimeError);
  });
});

describe('a holder who alters a share and mends its check', () => {
  test('is noticed at joining, 1,053 times of 1,053', () => {
    const outcomes = new Map<string | number, number>();
    const count = (outcome: string | number) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    manyTimes(1053, (draw) => {
      const box = drawBox(draw);
      const isXor = draw.below(3) === 0;
      const threshold = isXor ? 2 : 2 + draw.below(4);
      const shares = isXor ? splitXor(box, draw) : split(box, threshold, threshold + draw.below(3), draw);
      const target = draw.below(shares.length);
      const body = shares[target]?.subarray(16, 16 + box.length) ?? box;
      const from = draw.below(body.length);
      for (let i = from; i <= from + draw.below(4); i++) body[i] = (body[i] ?? 0) ^ (1 + draw.below(255));
      mend(shares[target] ?? box);
      count(join(shares));
    });
    expect([...outcomes]).toEqual([[REFUSED.forged, 1053]]);
  });

  test('is noticed whichever byte it is, and however many shares there are', () => {
    manyTimes(3, (draw) => {
      const box = drawBox(draw);
      const shares = split(box, 2, 4, draw);
      for (let at = 0; at < (shares[0]?.length ?? 0) - 8; at++) {
        const altered = mended(shares[1] ?? box, at, 1 + draw.below(255));
        for (const others of [shares.slice(0, 1), shares.filter((_, i) => i !== 1)]) {
          expect([REFUSED.forged, REFUSED.shares] as unknown[]).toContain(join([...others, altered]));
        }
      }
    });
  });
});

describe('shares of version 1', () => {
  test('still join, and not with those of version 2', () => {
    manyTimes(200, (draw) => {
      const box = drawBox(draw);
      const shares = draw.below(2) ? splitXor(box, draw) : split(box, 2, 2 + draw.below(5), draw);
      const old = shares.map(asVersion1);
      expect(join(shuffle(old, draw))).toBe(hex(box));
      expect(join([old[0] ?? box, shares[1] ?? box])).toBe(REFUSED.shares);
      expect(join([shares[0] ?? box, old[1] ?? box])).toBe(REFUSED.shares);
    });
  });

  test('an altered one is noticed where there are more than the threshold', () => {
    manyTimes(200, (draw) => {
      const box = drawBox(draw);
      const old = split(box, 3, 5, draw).map(asVersion1);
      const target = draw.below(4);
      old[target] = mended(old[target] ?? box, 40 + draw.below(40), 1 + draw.below(255));
      expect(join(old.slice(0, 4))).toBe(REFUSED.forged);
      expect(join(old)).toBe(REFUSED.forged);
    });
  });
});

test('nothing but a sealed box is split, and the entropy is wiped whatever comes', () => {
  manyTimes(50, (draw) => {
    const box = drawBox(draw);
    split(box, 3, 4, draw);
    expect(hex(get(ENTROPY, 8 + 2 * box.length))).toBe('00'.repeat(8 + 2 * box.length));
    expect(call.share_split(put(BOX, box), box.length, 3, 4, ENTROPY, SHARES)).toBe(REFUSED.zeros);
    expect(call.share_xor_split(BOX, box.length, ENTROPY, SHARES)).toBe(REFUSED.zeros);
    for (const none of [box.subarray(1), Uint8Array.of(...box, 0), draw.bytes(161)]) {
      put(ENTROPY, draw.bytes(8 + none.length));
      expect(call.share_xor_split(put(BOX, none), none.length, ENTROPY, SHARES)).toBe(REFUSED.malformed);
      expect(hex(get(ENTROPY, 8 + none.length))).toBe('00'.repeat(8 + none.length));
      put(ENTROPY, draw.bytes(8 + none.length));
      expect(call.share_split(BOX, none.length, 2, 2, ENTROPY, SHARES)).toBe(REFUSED.malformed);
    }
  });
});

test('it traps where shares would overwrite what is split', () => {
  put(BOX, drawBox(NO_DRAW));
  put(ENTROPY, new Uint8Array(200).fill(1));
  expect(() => call.share_xor_split(BOX, 161, ENTROPY, 100)).toThrow(WebAssembly.RuntimeError);
  expect(() => call.share_split(BOX, 161, 2, 3, ENTROPY, ENTROPY + 100)).toThrow(WebAssembly.RuntimeError);
});
