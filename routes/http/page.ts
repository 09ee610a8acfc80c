import type { Reply } from './response.ts';
import type { Route } from './route.ts';
import { queryOf } from './target.ts';

/**
 * Headers of a page that signs with passkeys: nothing from elsewhere, nothing inline, nobody's frame; WebAssembly for
 * the enclave.
 */
export const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
};

/** Headers of a page that signs nothing: the same without WebAssembly. */
export const QUIET_PAGE_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': PAGE_HEADERS['content-security-policy'].replace(" 'wasm-unsafe-eval'", ''),
};

/** The headers of a page that names its manifest, which a browser reads under the policy of the page. */
export const MANIFEST_PAGE_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': `${PAGE_HEADERS['content-security-policy']}; manifest-src 'self'`,
};

/**
 * A page that answers its opener by `postMessage` keeps it; every other one is cut off from its opener.
 */
export function withOpener<R extends Route>(route: R): R {
  return {
    ...route,
    async handle(incoming, limits): Promise<Reply> {
      const reply = await route.handle(incoming, limits);
      const query = new URLSearchParams(queryOf(incoming.request.url));
      if (query.get('mode') !== 'popup') return reply;
      return { ...reply, headers: { ...reply.headers, 'cross-origin-opener-policy': 'unsafe-none' } };
    },
  };
}
