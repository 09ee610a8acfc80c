import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { toHex } from '../../../lib/base/bytes.ts';
import { type Cidr, clientKey, inCidr, isLoopback, parseCidr, parseIp } from '../../../lib/base/ip.ts';
import { always } from '../../support/property.ts';

const ip = (text: string): Uint8Array => {
  const bytes = parseIp(text);
  if (!bytes) throw new Error(`${text} is no address`);
  return bytes;
};
const cidr = (text: string): Cidr => {
  const network = parseCidr(text);
  if (!network) throw new Error(`${text} is no network`);
  return network;
};

const groups = fc.array(fc.oneof(fc.constantFrom(0, 1, 0xffff), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });

/**
 * One of the spellings of RFC 4291 section 2.2 for eight groups, of which `length` from `from` on are zero and left
 * out.
 */
function spell(
  values: readonly number[],
  { from, length, isMixed, isPadded }: { from: number; length: number; isMixed: boolean; isPadded: boolean },
): string {
  const words = values.map((value) => value.toString(16).padStart(isPadded ? 4 : 1, '0'));
  const [high = 0, low = 0] = values.slice(6);
  const end = [high >> 8, high & 255, low >> 8, low & 255].join('.');
  const write = (part: readonly string[], reachesEnd: boolean) =>
    (reachesEnd && isMixed && part.length >= 2 ? [...part.slice(0, -2), end] : part).join(':');
  if (length === 0 || from === 8) return write(words, true);
  return `${words.slice(0, from).join(':')}::${write(words.slice(from + length), true)}`;
}

const DOCUMENTATION = '20010db8000000000001000000000001';

describe('an address', () => {
  test.each([
    ['192.0.2.235', 'c00002eb'],
    ['0.0.0.0', '00000000'],
    ['255.255.255.255', 'ffffffff'],
    // RFC 4291 section 2.2: preferred, compressed and mixed forms.
    ['ABCD:EF01:2345:6789:ABCD:EF01:2345:6789', 'abcdef0123456789abcdef0123456789'],
    ['2001:DB8:0:0:8:800:200C:417A', '20010db80000000000080800200c417a'],
    ['2001:DB8::8:800:200C:417A', '20010db80000000000080800200c417a'],
    ['FF01::101', 'ff010000000000000000000000000101'],
    ['::1', '00000000000000000000000000000001'],
    ['::', '00000000000000000000000000000000'],
    ['0:0:0:0:0:0:13.1.68.3', '0000000000000000000000000d014403'],
    ['::13.1.68.3', '0000000000000000000000000d014403'],
    ['64:ff9b::192.0.2.33', '0064ff9b0000000000000000c0000221'],
    ['1::', '00010000000000000000000000000000'],
    ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
    ['::2:3:4:5:6:7:8', '00000002000300040005000600070008'],
    // RFC 5952 section 1: eight spellings of one address.
    ['2001:db8:0:0:1:0:0:1', DOCUMENTATION],
    ['2001:0db8:0:0:1:0:0:1', DOCUMENTATION],
    ['2001:db8::1:0:0:1', DOCUMENTATION],
    ['2001:db8::0:1:0:0:1', DOCUMENTATION],
    ['2001:0db8::1:0:0:1', DOCUMENTATION],
    ['2001:db8:0:0:1::1', DOCUMENTATION],
    ['2001:db8:0000:0:1::1', DOCUMENTATION],
    ['2001:DB8:0:0:1::1', DOCUMENTATION],
    // An IPv4-mapped address is the IPv4 address, in whatever form; compatible and translated ones are not.
    ['::ffff:129.144.52.38', '81903426'],
    ['::FFFF:8190:3426', '81903426'],
    ['0:0:0:0:0:ffff:129.144.52.38', '81903426'],
    ['::ffff:0:129.144.52.38', '0000000000000000ffff000081903426'],
  ])('%s is %s', (text, hex) => {
    expect(toHex(ip(text))).toBe(hex);
  });

  const REFUSED = ['', ' ', '1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', '1.2.3.4 ', ' 1.2.3.4', '1.2.3.4\n']
    .concat(['0x7f.0.0.1', '1.2.3.4:80', '-1.2.3.4', '1e1.2.3.4', '١.٢.٣.٤', '2130706433', 'localhost'])
    .concat(['[::1]', '::1%eth0', 'fe80::1%25en0', '::1/64', '::1 ', ':', ':::', '1::2::3', '12345::', 'g::'])
    .concat(['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:8::', '::1:2:3:4:5:6:7:8', '1:2:3:4::5:6:7:8'])
    .concat([':1:2:3:4:5:6:7', '1:2:3:4:5:6:7:', '1.2.3.4::', '::1.2.3.4:5', '::1.2.3', '::01.2.3.4'])
    .concat(['::ffff:1.2.3.256', '1:2:3:4:5:6:7:1.2.3.4'])
    .map((text) => [text]);
  test.each(REFUSED)('%p is none', (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  test('reads back what any sixteen bytes are written as: padded or not, compressed anywhere, with an IPv4 end', () => {
    always(
      fc.tuple(groups, fc.nat(8), fc.nat(8), fc.boolean(), fc.boolean()),
      ([values, from, length, isMixed, isPadded]) => {
        const zeroed = values.map((value, i) => (i >= from && i < from + length ? 0 : value));
        const bytes = Uint8Array.from(zeroed.flatMap((value) => [value >> 8, value & 255]));
        const isMapped = toHex(bytes).startsWith(`${'0'.repeat(20)}ffff`);
        expect(ip(spell(zeroed, { from, length, isMixed, isPadded }))).toEqual(isMapped ? bytes.slice(12) : bytes);
      },
    );
  });

  test('reads back what any four bytes are written as', () => {
    always(fc.uint8Array({ minLength: 4, maxLength: 4 }), (bytes) => {
      expect(ip(bytes.join('.'))).toEqual(Uint8Array.from(bytes));
      expect(ip(`::ffff:${bytes.join('.')}`)).toEqual(Uint8Array.from(bytes));
    });
  });
});

describe('a network', () => {
  test.each([
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255', '::ffff:1.2.3.4'], ['::', '::1']],
    ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0']],
    ['10.128.0.0/9', ['10.128.0.0', '10.255.255.255'], ['10.127.255.255', '11.128.0.0']],
    ['192.0.2.99/24', ['192.0.2.0', '192.0.2.255'], ['192.0.1.255', '192.0.3.0']],
    ['192.0.2.0/31', ['192.0.2.0', '192.0.2.1'], ['192.0.2.2', '192.0.1.255']],
    ['192.0.2.7/32', ['192.0.2.7', '::ffff:192.0.2.7'], ['192.0.2.6', '192.0.2.8']],
    ['192.0.2.7', ['192.0.2.7'], ['192.0.2.6', '192.0.2.8', '::192.0.2.7']],
    ['::/0', ['::', '2001:db8::', 'ffff::'], ['0.0.0.0', '::ffff:1.2.3.4']],
    ['2001:db8::/33', ['2001:db8::', '2001:db8:7fff:ffff::'], ['2001:db8:8000::', '2001:db7:ffff::']],
    ['2001:db8::/127', ['2001:db8::', '2001:db8::1'], ['2001:db8::2']],
    ['2001:db8::1', ['2001:db8::1', '2001:db8:0::0:1'], ['2001:db8::', '2001:db8::2']],
    ['::ffff:10.0.0.0/104', ['10.0.0.0', '10.255.255.255'], ['11.0.0.0', '::a00:0']],
    ['::ffff:0:0/96', ['0.0.0.0', '255.255.255.255'], ['::']],
    ['::ffff:192.0.2.7', ['192.0.2.7'], ['192.0.2.8']],
  ])('%s holds %p and not %p', (text, inside, outside) => {
    const network = cidr(text);
    expect(inside.filter((address) => !inCidr(ip(address), network))).toEqual([]);
    expect(outside.filter((address) => inCidr(ip(address), network))).toEqual([]);
  });

  const REFUSED = ['', '/8', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/8/8', '10.0.0.0/8.0']
    .concat(['10.0.0.0 /8', '10.0.0.0/ 8', '10.0.0/8', '10.0.0.0/1e1', '::/129', '::1%eth0/64', '[::]/0'])
    .concat(['::ffff:10.0.0.0/95', '::ffff:10.0.0.0/129', 'localhost/8'])
    .map((text) => [text]);
  test.each(REFUSED)('%p is none', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  test('holds an address exactly when the first bits agree', () => {
    const bits = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
    const pair = fc.constantFrom(4, 16).chain((length) => {
      const address = fc.uint8Array({ minLength: length, maxLength: length, max: 3 });
      return fc.tuple(address, address, fc.nat(8 * length));
    });
    always(pair, ([address, base, size]) => {
      const agree = bits(address).slice(0, size) === bits(base).slice(0, size);
      expect(inCidr(address, { bytes: base, bits: size })).toBe(agree);
    });
  });
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  // Forms that carry the IPv4 address of the client (RFC 6052, 3056, 4380).
  ['64:ff9b::cb00:7107', '203.0.113.7'],
  ['64:ff9b::203.0.113.8', '203.0.113.8'],
  ['64:ff9b:0:1::cb00:7107', '64:ff9b:0:1::/64'],
  ['2002:cb00:7107:42::1', '203.0.113.7'],
  ['2001:0:4136:e378:8000:63bf:34ff:8ef8', '203.0.113.7'],
  ['2001:0:c000:201:0:ffff:34ff:8ef8', '203.0.113.7'],
])('the client %s is counted as %s', (text, key) => {
  expect(clientKey(ip(text))).toBe(key);
});

test('two IPv6 clients are counted as one exactly when their /64 is the same', () => {
  const address = fc.uint8Array({ minLength: 16, maxLength: 16, max: 1 });
  always(fc.tuple(address, address), ([a, b]) => {
    expect(clientKey(a) === clientKey(b)).toBe(toHex(a.subarray(0, 8)) === toHex(b.subarray(0, 8)));
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.255.255.254', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['126.255.255.255', false],
  ['128.0.0.0', false],
  ['::', false],
  ['::2', false],
  ['::127.0.0.1', false],
])('%s is loopback: %p', (text, expected) => {
  expect(isLoopback(ip(text))).toBe(expected);
});
