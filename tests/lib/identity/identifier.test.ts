import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  CHANNELS,
  type Channel,
  inferChannel,
  maskIdentifier,
  parseIdentifier,
} from '../../../lib/identity/identifier.ts';
import { always } from '../../support/property.ts';

/** The normal form, or the refusal's words. */
function normal(channel: Channel, text: string): string {
  try {
    const { value, key, ...rest } = parseIdentifier(channel, text);
    expect([rest, key]).toEqual([{ channel }, `${channel}:${value}`]);
    return value;
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad_request' });
    return (error as Error).message;
  }
}

const label63 = 'a'.repeat(63);
/** An address of this many octets, of which 64 are its local part. */
const octets = (length: number) => {
  const rest = `${'a'.repeat(64)}@${label63}.${label63}.`;
  return `${rest}${'b'.repeat(length - rest.length - 3)}.de`;
};

const ACCEPTED: Readonly<Record<Channel, readonly (readonly [text: string, normal: string])[]>> = {
  email: [
    ['alice@example.com', 'alice@example.com'],
    [' \tAlice@Example.COM\n', 'alice@example.com'],
    ["o'hara+tag.!#$%&*/=?^_`{|}~-@example.com", "o'hara+tag.!#$%&*/=?^_`{|}~-@example.com"],
    ['a.b.c@example.com', 'a.b.c@example.com'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
    ['a@3-com.x--y.de', 'a@3-com.x--y.de'],
    [`a@${label63}.de`, `a@${label63}.de`],
    [octets(254), octets(254)],
    ['a@EXÄMPLE.com', 'a@xn--exmple-cua.com'],
    ['a@exa\u0308mple.com', 'a@xn--exmple-cua.com'],
    // NFC makes an ASCII letter of the Kelvin sign.
    ['\u212aate@example.com', 'kate@example.com'],
    ['a@XN--Exmple-CUA.com', 'a@xn--exmple-cua.com'],
    ['a@straße.de', 'a@xn--strae-oqa.de'],
    ['a@例え。テスト', 'a@xn--r8jz45g.xn--zckzah'],
    ['a@ｅｘａｍｐｌｅ.com', 'a@example.com'],
  ],
  sms: [
    ['+14155550100', '+14155550100'],
    ['+1 (415) 555-0100', '+14155550100'],
    ['+1.415.555.0100', '+14155550100'],
    ['\t+14155550100\n', '+14155550100'],
    [' 14155550100', '+14155550100'],
    [' 1 (415) 555-0100 ', '+14155550100'],
    ['+1\u00a0415\u2009555\u30000100', '+14155550100'],
    ['+1\u2010415\u2011555\u22120100', '+14155550100'],
    ['+1 [415] 555\u20130100', '+14155550100'],
    // What an address book copies around a number.
    ['\u202d+1 415 555 0100\u202c', '+14155550100'],
    ['+49 (0)151 23456789', '+4915123456789'],
    ['+49 [0] 151 23456789', '+4915123456789'],
    ['+4900151 23456789', '+4915123456789'],
    ['+44 (0)20 7946 0958', '+442079460958'],
    ['+41 (0)44 668 18 00', '+41446681800'],
    // Italy's 0 is a part of the number.
    ['+39 06 698 82872', '+390669882872'],
    ['+7 (8) 495 123-45-67', '+74951234567'],
    ['+55 0 15 11 91234-5678', '+5511912345678'],
    ['+683 4002', '+6834002'],
    ['+491234567890123', '+491234567890123'],
    ['+800 1234 5678', '+80012345678'],
  ],
  handle: [
    ['a', 'a'],
    ['7', '7'],
    [' Alice ', 'alice'],
    ['A.b_c-9', 'a.b_c-9'],
    ['a..__--z', 'a..__--z'],
    ['a'.repeat(64), 'a'.repeat(64)],
  ],
};

const REFUSED: Readonly<Record<Channel, readonly string[]>> = {
  email: ['', '@', 'alice', 'alice@', '@example.com', 'a@b@c.de', 'a b@c.de', 'a@b c.de', 'Alice <a@b.de>', '"a"@b.de']
    .concat([
      'a@-b.de',
      'a@b-.de',
      'a@.de',
      'a@de.',
      'a@b..de',
      'a@b_c.de',
      'a@b,c.de',
      `a@${label63}a.de`,
      octets(255),
    ])
    .concat(['a@[127.0.0.1]', 'a@[::1]', 'a@b:25', 'a@b/c', 'a@b?c', 'a@b#c', 'a@b%2ede', 'a@b\\c', 'a@b\0c', 'a@b\nc'])
    .concat(['.a@ex.co', 'a.@ex.co', 'a..b@ex.co', '.@ex.co', `${'a'.repeat(65)}@ex.co`])
    .concat(['a@localhost', 'root@internal', 'a@127.0.0.1', 'a@0.0.0.0', 'a@1', 'a@de'])
    .concat(['ä@example.com', 'a@xn--a', 'a@0x7f.1', 'a@127.1', 'a@256.1.1.1', 'a@１.２.３.４', 'a＠example.com']),
  sms: ['', '+', '14155550100', '0014155550100', '+04155550100', '+123456', '+1234567890123456', '++14155550100']
    .concat(['1+4155550100', '+1415555O100', '+14155550100x5', '+1/415/5550100', '  14155550100', '\t14155550100'])
    .concat(['+١٤١٥٥٥٥٠١٠٠', '+1４155550100', 'tel:+14155550100', '+14155550100 ext. 5'])
    // Of no country, too long or too short for it, or with a code of no country.
    .concat(['+1234567', '+123456789012345', '+4915112345678901', '+1415555010', '+999123456789', '+49', '+4900000']),
  handle: [
    '',
    ' ',
    '-a',
    'a-',
    '_a',
    'a_',
    '.a',
    'a.',
    '.',
    'a b',
    'a@b',
    'a/b',
    'a+b',
    'ä',
    'a\u200bb',
    'a'.repeat(65),
  ]
    // Letters that are not of a–z but whose lower case is, or looks so.
    .concat(['\u212aate', '\u0130a', '\u017fam', 'аlice', 'ａlice']),
};

describe.each(CHANNELS.map((channel) => [channel]))('an identifier of channel %s', (channel) => {
  test.each(ACCEPTED[channel].map((row) => [...row]))('%p has the normal form %p', (text, value) => {
    expect(normal(channel, text)).toBe(value);
    expect(normal(channel, value)).toBe(value);
  });

  test.each(REFUSED[channel].map((text) => [text]))('%p is 400 Invalid identifier', (text) => {
    expect(normal(channel, text)).toBe('Invalid identifier');
  });

  test('has a normal form that is ASCII, in lower case, and its own', () => {
    const text = fc.string({ unit: fc.constantFrom(...'aZß\u0308\u212aİ09 +-._()@'), maxLength: 20 });
    always(text, (given) => {
      const value = normal(channel, given);
      if (value === 'Invalid identifier') return;
      expect(value).toMatch(/^[\x21-\x7e]+$/);
      expect([value.toLowerCase(), normal(channel, value)]).toEqual([value, value]);
    });
  });
});

/**
 * RFC 5321 section 4.1.2, rule by rule: `Dot-string@Domain` of at least two sub-domains, where a last one of digits is
 * left out, since it is read as an IP address.
 */
const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]";
const SUB_DOMAIN = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
const RFC_5321 = new RegExp(`^${ATEXT}+(?:\\.${ATEXT}+)*@(?:${SUB_DOMAIN}\\.)+(?!\\d+$)${SUB_DOMAIN}$`);

test('an ASCII address is accepted exactly when RFC 5321 has it, at a public domain', () => {
  const part = (alphabet: string) => fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 8 });
  const address = fc
    .tuple(part('aB9.+-_"(,; @'), part('aB-._ :/'), fc.constantFrom('.de', '.a', '-', '', 'de'))
    .map(([local, domain, end]) => `${local}@${domain}${end}`);
  always(address, (text) => {
    expect(normal('email', text) !== 'Invalid identifier').toBe(RFC_5321.test(text.trim()));
  });
});

test('the domain of an address is the host that a URL parser reads', () => {
  const label = fc.string({ unit: fc.constantFrom(...'aBxn09f--ß\u0301\u212a'), minLength: 1, maxLength: 9 });
  const domain = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'));
  always(domain, (text) => {
    const address = normal('email', `a@${text}`);
    if (address === 'Invalid identifier') return;
    expect(address).toBe(`a@${new URL(`http://${text}/`).hostname}`);
  });
  expect(normal('email', 'a@b.0xff')).toBe('Invalid identifier');
  expect(normal('email', 'a@Example.COM.xn--p1ai')).toBe('a@example.com.xn--p1ai');
});

test.each<[string, Channel]>([
  ['alice@example.com', 'email'],
  ['+1@example.com', 'email'],
  ['@', 'email'],
  ['+14155550100', 'sms'],
  [' +1 (415) 555-0100', 'sms'],
  [' 14155550100', 'sms'],
  ['14155550100', 'handle'],
  ['alice', 'handle'],
  [' alice', 'handle'],
  ['', 'handle'],
])('%p is taken for one of channel %s', (text, channel) => {
  expect(inferChannel(text)).toBe(channel);
});

test.each<[Channel, string, string]>([
  ['email', 'alice@example.com', 'a***@example.com'],
  ['email', 'a@example.com', 'a***@example.com'],
  ['sms', '+14155550100', '+14***00'],
  ['sms', '+1234567', '+12***67'],
  ['handle', 'alice', 'a***'],
])('the %s %s is shown as %s', (channel, value, masked) => {
  expect(maskIdentifier({ channel, value })).toBe(masked);
});
