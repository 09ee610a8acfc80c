// PNG (ISO/IEC 15948) with a palette: a screenshot of text and flat colours takes about a third of the bytes.
import { deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10);

/**
 * The same picture with at most 256 colours. Takes what Chromium's screenshots are: 8 bits a channel, RGB or RGBA, not
 * interlaced. Throws on others.
 */
export function toIndexed(png: Uint8Array): Uint8Array {
  const { width, height, pixels } = decode(png);
  const palette = choosePalette(pixels);
  const nearest = createNearest(palette);
  const rows = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = nearest(pixels[y * width + x] ?? 0);
  }
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  header.setUint8(9, 3);
  const colors = Uint8Array.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', new Uint8Array(header.buffer)),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', new Uint8Array()),
  ]);
}

interface Picture {
  readonly width: number;
  readonly height: number;
  /** 0xRRGGBB by row; what is transparent is taken as it would be without. */
  readonly pixels: Uint32Array;
}

function decode(png: Uint8Array): Picture {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const [width, height, depth, type] = [view.getUint32(16), view.getUint32(20), png[24], png[25]];
  if (depth !== 8 || (type !== 2 && type !== 6) || png[28] !== 0) throw new Error('a PNG of another kind');
  const data: Uint8Array[] = [];
  for (let at = 8; at < png.length; ) {
    const length = view.getUint32(at);
    const name = new TextDecoder().decode(png.subarray(at + 4, at + 8));
    if (name === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const size = type === 2 ? 3 : 4;
  const bytes = unfilter(inflateSync(Buffer.concat(data)), width * size, height, size);
  const pixels = Uint32Array.from({ length: width * height }, (_, i) => {
    const at = i * size;
    return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  });
  return { width, height, pixels };
}

/** Section 9: each row begins with the number of the filter that its bytes went through. */
function unfilter(raw: Uint8Array, stride: number, height: number, size: number): Uint8Array {
  const bytes = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const left = x >= size ? (bytes[y * stride + x - size] ?? 0) : 0;
      const up = y > 0 ? (bytes[(y - 1) * stride + x] ?? 0) : 0;
      const corner = x >= size && y > 0 ? (bytes[(y - 1) * stride + x - size] ?? 0) : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      bytes[y * stride + x] = (raw[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return bytes;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/**
 * The commonest colours: flat ones first as they are, then each away from those before it, since shades of one grey
 * would leave no place for the rest.
 */
function choosePalette(pixels: Uint32Array): readonly number[] {
  const counts = new Map<number, number>();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const common = [...counts].toSorted(([, a], [, b]) => b - a).map(([color]) => color);
  const chosen: number[] = [];
  for (const color of common) {
    if (chosen.length === 256) break;
    if (chosen.length < FLAT_COLORS || chosen.every((other) => distance(color, other) > 300)) chosen.push(color);
  }
  return chosen;
}

const FLAT_COLORS = 24;

function createNearest(palette: readonly number[]): (color: number) => number {
  const known = new Map<number, number>();
  return (color) => {
    let index = known.get(color);
    if (index === undefined) {
      index = palette.reduce(
        (best, one, i) => (distance(one, color) < distance(palette[best] ?? 0, color) ? i : best),
        0,
      );
      known.set(color, index);
    }
    return index;
  };
}

function distance(a: number, b: number): number {
  const [red, green, blue] = [(a >> 16) - (b >> 16), ((a >> 8) & 255) - ((b >> 8) & 255), (a & 255) - (b & 255)];
  return red * red + green * green + blue * blue;
}

function chunk(name: string, data: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(Bun.hash.crc32(body));
  return Buffer.concat([length, body, sum]);
}
