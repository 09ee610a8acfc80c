// When a link ends.
import { utf8 } from '../../client/bytes.ts';
import { toHex } from '../../client/wallet/bytes.ts';
import { LINKS_MAX, REQUEST_MS } from './constants.ts';

/**
 * When a link ends: counted from its first opening on this device, which a reload does not change. A link that never
 * was opened here, or a browser that stores nothing, starts now.
 */
export async function endOfLink(request: string): Promise<number> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(request)));
  const [key, now] = [toHex(hash.subarray(0, 16)), Date.now()];
  let openedAt = now;
  try {
    const known = JSON.parse(localStorage.getItem('vault-links') ?? '[]') as readonly [string, number][];
    // A clock that was turned back lengthens nothing.
    openedAt = Math.min(now, new Map(known).get(key) ?? now);
    const others = known.filter(([name]) => name !== key).slice(0, LINKS_MAX);
    localStorage.setItem('vault-links', JSON.stringify([[key, openedAt], ...others]));
  } catch {
    // Then it starts now.
  }
  return openedAt + REQUEST_MS;
}
