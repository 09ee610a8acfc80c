/** An amount of the smallest unit as a decimal without trailing zeros. */
export function formatAmount(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** A decimal text as an amount of the smallest unit; undefined if invalid or with more places than the token. */
export function parseAmount(text: string, decimals: number): bigint | undefined {
  const [, whole = '', fraction = ''] = /^(\d{1,60})(?:\.(\d{1,60}))?$/.exec(text) ?? [];
  if (whole === '') return undefined;
  const places = fraction.replace(/0+$/, '');
  return places.length > decimals ? undefined : BigInt(whole + places.padEnd(decimals, '0'));
}

/** The shop's total compared with the requested amount. */
export type Comparison = 'equal' | 'different' | 'incomparable';

/** Compares listed tokens only: dollars with USDC, and a token with its own symbol. Others have no price here. */
export function compareTotal(
  total: { readonly currency: string; readonly value: string },
  { amount, symbol, decimals, listed }: { amount: bigint; symbol: string; decimals: number; listed: boolean },
): Comparison {
  const currency = total.currency.toUpperCase();
  const isSame = currency === symbol.toUpperCase() || (currency === 'USD' && symbol === 'USDC');
  if (!listed || !isSame) return 'incomparable';
  return parseAmount(total.value, decimals) === amount ? 'equal' : 'different';
}
