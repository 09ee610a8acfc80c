import { describe, expect, test } from 'bun:test';
import { smsText } from '../../../lib/delivery/message.ts';
import { countSms, isOneSegment } from '../../../lib/delivery/sms-text.ts';
import { letterheadOf, letterheads } from '../../support/letterheads.ts';

const notice = { code: '042137', lifetimeSeconds: 600 };
const head = await letterheadOf();

/** Counted by hand: characters of the GSM 7-bit alphabet, those behind an escape twice, else UTF-16 units. */
function segmentsOf(text: string): number {
  const basic = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà^{}\\[~\]|€]*$/;
  if (!basic.test(text)) return text.length <= 70 ? 1 : Math.ceil(text.length / 67);
  const units = text.length + (text.match(/[\^{}\\[~\]|€]/g)?.length ?? 0);
  return units <= 160 ? 1 : Math.ceil(units / 153);
}

describe.each(letterheads.map((one) => [one.language, one] as const))('text messages in %s', (_, own) => {
  const names = ['vault.example.com', 'Tea House', 'Teehaus Ümläut & Söhne', 'x'.repeat(40), '茶'.repeat(40), '🍵 tea'];
  const passes = [
    'https://vault.example.com/pass#m5d3k9ab-0123456789abcdef0123456789abcdef',
    `https://${'long.'.repeat(20)}example/pass#m5d3k9ab-0123`,
  ];

  test.each(names)('are one segment for the brand %s', (name) => {
    const branded = { ...own, brand: { ...own.brand, name } };
    const texts = [
      smsText(notice, branded),
      smsText({ ...notice, lifetimeSeconds: 90 }, branded),
      smsText({ notice: 'taken_over', lifetimeSeconds: 0 }, branded),
      ...passes.map((pass) => smsText({ pass, lifetimeSeconds: 90 }, branded)),
      smsText({ ...notice, purpose: 'recovery' }, branded),
      smsText({ ...notice, purpose: 'credential' }, branded),
    ];
    for (const text of texts) expect({ text, segments: segmentsOf(text) }).toEqual({ text, segments: 1 });
    expect(texts[0]).toContain('042137');
    const [recovery = '', credential = ''] = texts.slice(-2);
    // However long the brand is, it says what the code does.
    expect(new Set([recovery, credential].map((text) => text.replace(/[^a-z]/gi, '').length > 12))).toEqual(
      new Set([true]),
    );
    expect(recovery).not.toBe(credential);
    for (const [i, pass] of passes.entries()) expect(texts[i + 3]).toContain(pass);
  });

  test('say all there is to say within the GSM alphabet for a short brand', () => {
    const text = smsText(notice, { ...own, brand: { ...own.brand, name: 'Tea House' } });
    expect(text).toMatch(/Tea House/);
    expect(text).toContain('10');
    expect(text).toEndWith('\n\n@vault.example.com #042137');
    // UCS-2 would have no room for it.
    expect(text.length).toBeGreaterThan(70);
  });
});

test('the text message is one segment that ends in the origin-bound line', () => {
  expect(smsText(notice, head)).toBe(
    '042137 is your code to sign up at vault.example.com. It works for 10 minutes. Tell it to nobody.\n\n@vault.example.com #042137',
  );
});

test('it leaves the line out when it does not fit', () => {
  const host = `${'long-'.repeat(8)}name.example.com`;
  const own = { ...head, host, brand: { ...head.brand, name: host } };
  expect(smsText(notice, own)).not.toContain('@');
});

test.each(['localhost', 'localhost:8787', 'vault.example.com:8443', '127.0.0.1', '[::1]:8787', 'Example Vault'])(
  'it has no such line for %s, which is no domain',
  (host) => {
    expect(smsText(notice, { ...head, host })).not.toContain('@');
  },
);

test.each([
  ['a'.repeat(160), true],
  ['a'.repeat(161), false],
  ['€'.repeat(80), true],
  [`${'€'.repeat(80)}a`, false],
  [`ç${'a'.repeat(69)}`, true],
  [`ç${'a'.repeat(70)}`, false],
  ['😀'.repeat(35), true],
  ['😀'.repeat(36), false],
])('%s is one segment: %p', (text, isOne) => {
  expect(isOneSegment(text)).toBe(isOne);
  expect(segmentsOf(text) === 1).toBe(isOne);
});

test.each([
  ['a'.repeat(160), { alphabet: 'GSM', units: 160, segments: 1 }],
  ['€'.repeat(81), { alphabet: 'GSM', units: 162, segments: 2 }],
  ['a'.repeat(307), { alphabet: 'GSM', units: 307, segments: 3 }],
  ['😀'.repeat(36), { alphabet: 'UCS-2', units: 72, segments: 2 }],
  ['茶'.repeat(135), { alphabet: 'UCS-2', units: 135, segments: 3 }],
] as const)('%s is counted', (text, count) => {
  expect(countSms(text)).toEqual(count);
  expect(countSms(text).segments).toBe(segmentsOf(text));
});

test('a brand whose letters leave no room gives way to the host, and the line that binds the code stays', async () => {
  const own = await letterheadOf('en', { name: '茶'.repeat(30) });
  expect(smsText(notice, own)).toBe(
    '042137 is your code to sign up at vault.example.com. It works for 10 minutes. Tell it to nobody.\n\n@vault.example.com #042137',
  );
});
