import { badRequest } from '../../lib/base/error.ts';
import { parseIp } from '../../lib/base/ip.ts';
import type { Config } from '../../lib/config/config.ts';
import { isLoopbackHost } from '../../lib/config/url-parsers.ts';

/** Judges the host that a request names. Each text is read once. */
export interface Hosts {
  /**
   * Throws 400 for a `Host` that is not a name or an address with an optional port. HTTP/1.0 may leave it out: then Bun
   * gives the bare path as the URL, as it does for many a wrong `Host`.
   */
  check(request: Request): void;
  /**
   * Whether the request names this vault: the host of `BASE_URL`, one of `ALLOWED_HOSTS`, a loopback name or an IP
   * address. A page whose own domain was made to lead here (DNS rebinding) names another.
   */
  isOwn(request: Request): boolean;
}

/** The hosts of a vault. */
export function createHosts({ baseUrl, allowedHosts }: Pick<Config, 'baseUrl' | 'allowedHosts'>): Hosts {
  const own = new Set([new URL(baseUrl).hostname, ...allowedHosts].map((name) => name.toLowerCase()));
  const known = new Map<string, Verdict>();
  const judge = (host: string): Verdict => {
    const found = known.get(host);
    if (found) return found;
    const verdict = judgeHost(host, own);
    if (host.length > HOST_CHARS_MAX) return verdict;
    // Callers choose the text: forgetting all costs no more than reading again.
    if (known.size >= HOSTS_MAX) known.clear();
    known.set(host, verdict);
    return verdict;
  };
  return {
    check({ headers }) {
      const host = headers.get('host');
      if (host !== null && !judge(host).isValid) throw badRequest('Invalid Host header');
    },
    isOwn({ headers, url }) {
      const host = headers.get('host') ?? AUTHORITY.exec(url)?.[1];
      return host !== undefined && judge(host).isOwn;
    },
  };
}

interface Verdict {
  readonly isValid: boolean;
  readonly isOwn: boolean;
}

/** The port does not count: one operator runs all ports of a host. */
function judgeHost(host: string, own: ReadonlySet<string>): Verdict {
  const name = HOST.exec(host)?.[1]?.toLowerCase().replace(/\.$/, '');
  if (name === undefined) return { isValid: false, isOwn: false };
  const isAddress = parseIp(name.replace(/^\[|\]$/g, '')) !== undefined;
  return { isValid: true, isOwn: isAddress || isLoopbackHost(name) || own.has(name) };
}

/** `uri-host [":" port]` (RFC 9110, section 7.2). Two headers come joined by a comma and a space, which it refuses. */
const HOST = /^([\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** The host of an absolute URL, for hosts that hand in requests without a `Host` header. */
const AUTHORITY = /^https?:\/\/([^/?#]+)/i;

/** The texts that are remembered, and the longest of them: a name has at most 253 characters. */
const HOSTS_MAX = 1024;
const HOST_CHARS_MAX = 260;
