import { expect, test } from 'bun:test';
import { type Random, randomCode, randomId, systemRandom } from '../../../lib/base/random.ts';

/** Hands out these 32-bit draws, big-endian, each as a view into a larger buffer; then fails. */
function scripted(...draws: readonly number[]): Random & { left(): number } {
  const rest = [...draws];
  const random = (length: number) => {
    const draw = rest.shift();
    if (draw === undefined || length !== 4) throw new Error(`${length} bytes were not foreseen`);
    const buffer = new DataView(new ArrayBuffer(12));
    buffer.setUint32(5, draw);
    return new Uint8Array(buffer.buffer, 5, 4);
  };
  return Object.assign(random, { left: () => rest.length });
}

const FAIR = 4_294_000_000;

test.each([
  [0, '000000'],
  [7, '000007'],
  [999_999, '999999'],
  [1_000_000, '000000'],
  [FAIR - 1, '999999'],
])('a draw of %i is the code %s', (draw, code) => {
  expect(randomCode(scripted(draw))).toBe(code);
});

test('draws past the last whole multiple of a million are thrown away, so that every code is equally likely', () => {
  const random = scripted(FAIR, 2 ** 32 - 1, FAIR + 967_295, 42, 43);
  expect([randomCode(random), random.left()]).toEqual(['000042', 1]);
  expect(FAIR % 1_000_000).toBe(0);
  expect(2 ** 32 - FAIR).toBeLessThan(1_000_000);
});

test('a name is 16 bytes in hex', () => {
  const random: Random = (length) => Uint8Array.from({ length }, (_, i) => i);
  expect(randomId(random)).toBe('000102030405060708090a0b0c0d0e0f');
});

test("the host's generator gives as many bytes as asked, other ones each time", () => {
  expect([0, 1, 32].map((length) => systemRandom(length).length)).toEqual([0, 1, 32]);
  const names = new Set(Array.from({ length: 1_000 }, () => randomId(systemRandom)));
  expect(names.size).toBe(1_000);
});
