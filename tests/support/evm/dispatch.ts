/** EVM code that answers one word, 32 bytes in 0x-hex without 0x or a number. */
export function answering(word: bigint | string): string {
  const hex = typeof word === 'bigint' ? word.toString(16).padStart(64, '0') : word;
  return `7f${hex}60005260206000f3`;
}

/** EVM code that reverts without a reason. */
const REVERTING = '60006000fd';

/** A contract whose functions, by selector (0x-hex), are these bytes of EVM code; it reverts for any other. */
export function dispatching(functions: Readonly<Record<string, string>>, other = REVERTING): `0x${string}` {
  const entries = Object.entries(functions);
  const head = '60003560e01c';
  // DUP1, PUSH4 selector, EQ, PUSH2 place, JUMPI: 11 bytes each.
  let place = head.length / 2 + 11 * entries.length + other.length / 2;
  const jumps = entries.map(([selector, body]) => {
    const jump = `8063${selector.slice(2)}1461${place.toString(16).padStart(4, '0')}57`;
    place += 1 + body.length / 2;
    return jump;
  });
  return `0x${head}${jumps.join('')}${other}${entries.map(([, body]) => `5b${body}`).join('')}`;
}

/** A token's functions: its decimals, a supply, and its symbol in EVM code. */
export function tokenCode(decimals: bigint, symbol = REVERTING): `0x${string}` {
  return dispatching({ '0x313ce567': answering(decimals), '0x18160ddd': answering(7n), '0x95d89b41': symbol });
}
