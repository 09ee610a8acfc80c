/** Wei in gwei, rounded up: a day in wei is more than a double, or the driver of a database, holds exactly. */
export function inGwei(wei: bigint): number {
  return Number((wei + WEI_PER_GWEI - 1n) / WEI_PER_GWEI);
}

/** Wei in gwei, rounded down. */
export function wholeGwei(wei: bigint): number {
  return Number(wei / WEI_PER_GWEI);
}

const WEI_PER_GWEI = 10n ** 9n;
