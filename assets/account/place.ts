// Where passkeys work: in which browsers, and at which address of the vault.
import { hasPasskeys } from '../../client/vault/passkeys.ts';
import type { Config } from '../../client/wallet/vault.ts';
import { ProblemError } from './problem.ts';

/** Throws in a browser that has no passkeys for this page. */
export function needPasskeys(): void {
  if (!hasPasskeys()) throw new ProblemError('browser');
}

/** Goes from an IP address, for which there are no passkeys, to the vault's own name; true if the page is left. */
export function leaves({ origin }: Config): boolean {
  if (!isAddress(location.hostname) || isAddress(new URL(origin).hostname)) return false;
  location.replace(origin + location.pathname + location.search + location.hash);
  return true;
}

function isAddress(host: string): boolean {
  return /^[\d.]+$|^\[/.test(host);
}
