/** The check of an order's members, with the form that each must have. */
export type Member = readonly [isRight: (value: unknown) => boolean, expected: string];

/** The members of every order. An amount is a text: JavaScript loses the last digits of such numbers. */
export const TERMS = {
  id: [(value) => typeof value === 'string' && value !== '', "the order's id, a text"],
  to: [isAddress, "the payee's address, 0x and 40 hex digits"],
  token: [(value) => value === 'native' || isAddress(value), '"native" or the address of a token'],
  amount: [isAmount, 'a decimal string in the smallest unit, above 0, such as "1250000" for 1.25 USDC'],
} as const satisfies Readonly<Record<string, Member>>;

/** Throws a `TypeError` that names the first member that is missing or wrong, and its form. */
export function demandMembers(order: unknown, members: Readonly<Record<string, Member>>, of = 'order'): void {
  for (const [name, [isRight, expected]] of Object.entries(members)) {
    const value = (order as Readonly<Record<string, unknown>> | null | undefined)?.[name];
    const is = value === undefined ? 'missing' : shown(value);
    if (!isRight(value)) throw new TypeError(`${of}.${name} is ${is}; expected ${expected}`);
  }
}

/** A value in the words of an error. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  return value === null || value === undefined ? `${value}` : `the ${typeof value} ${String(value)}`;
}

/** Whether a value is 20 bytes in 0x-hex. */
export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value);
}

function isAmount(value: unknown): boolean {
  if (typeof value === 'bigint') return value > 0n;
  return typeof value === 'string' && /^[0-9]{1,78}$/.test(value) && BigInt(value) > 0n;
}
