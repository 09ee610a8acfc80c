import { expect, test } from 'bun:test';
import { expectHoldsNone } from './secrecy.ts';

const isHeld = (value: unknown, text: string): boolean => {
  try {
    expectHoldsNone(value, text);
    return false;
  } catch {
    return true;
  }
};
const CHALLENGE = `7f042137${'0a'.repeat(12)}`;

test('a code is found wherever it stands, but not in hex of no meaning, which may have it by chance', () => {
  const texts = ['042137', 'a042137b', `${'a'.repeat(31)}\n042137`, '{"code":"042137"}', CHALLENGE.slice(0, 31)];
  for (const text of texts) expect([text, isHeld([{ text }], '042137')]).toEqual([text, true]);
  expect([isHeld({ code: 142137 }, '142137'), isHeld('+1500555042137', '5550421')]).toEqual([true, true]);
  for (const hex of [CHALLENGE, `0x${CHALLENGE.repeat(2)}`, JSON.stringify({ challenge: CHALLENGE })])
    expect([hex, isHeld([{ hex }, hex], '042137')]).toEqual([hex, false]);
});

test('a secret is found in hex as well', () => {
  for (const secret of ['7f042137', CHALLENGE, CHALLENGE.toUpperCase()])
    expect([secret, isHeld({ signature: `0x${CHALLENGE.repeat(2)}` }, secret)]).toEqual([secret, true]);
});
