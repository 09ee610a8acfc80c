import { type Fetch, UpstreamError } from '../../lib/base/http-client.ts';
import { isPublicAddress } from '../../lib/base/public-address.ts';

/** Addresses of a receiver that are tried. */
const WEBHOOK_ADDRESSES_MAX = 4;

interface Guard {
  /** Whether private and loopback addresses may be connected to. */
  readonly allowPrivate: boolean;
  /** The addresses of a host name; the system's own unless a test hands in another. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  /** The addresses that may be connected to; the public ones unless a test hands in another rule. */
  readonly allows?: (address: string) => boolean;
  /** A certificate authority besides the system's, for tests. */
  readonly ca?: string;
}

/**
 * A `fetch` that connects to the address it has checked: it resolves the name once and uses an allowed address of it.
 * Host name and certificate stay those of the URL. Throws `UpstreamError` if no address is allowed.
 */
export function createGuardedFetch({
  allowPrivate,
  resolve = resolveBySystem,
  allows = isPublicAddress,
  ca,
}: Guard): Fetch {
  return async (text, init) => {
    const url = new URL(text);
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    const addresses = (await resolve(hostname)).filter((address) => allowPrivate || allows(address));
    if (addresses.length === 0) throw new UpstreamError('unreachable', 'address refused');
    let failure: unknown;
    for (const address of addresses.slice(0, WEBHOOK_ADDRESSES_MAX)) {
      if (init.signal?.aborted) break;
      try {
        return await fetchAt(url, hostname, address, init, ca);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
}

/**
 * Bun connects to the host of the URL. The `Host` header and the name that the certificate is checked for are separate.
 */
function fetchAt(
  url: URL,
  hostname: string,
  address: string,
  init: RequestInit,
  ca: string | undefined,
): Promise<Response> {
  const target = new URL(url);
  target.hostname = address.includes(':') ? `[${address}]` : address;
  const headers = { ...(init.headers as Record<string, string>), host: url.host };
  const serverName = hostname === address ? {} : { serverName: hostname };
  return fetch(target, { ...init, headers, tls: { ...serverName, ...(ca === undefined ? {} : { ca }) } });
}

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  return (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);
}
