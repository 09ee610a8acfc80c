import type { Route } from './http/route.ts';
import { file } from './http/static-file.ts';

/** The enclave, for pages of any origin; `GET /api/status` publishes its SHA-256 for `fetch`'s `integrity`. */
export const enclaveRoutes = [
  file('/enclave.wasm', {
    type: 'application/wasm',
    summary: 'The enclave, WebAssembly',
    headers: {
      'cache-control': 'public, max-age=3600, s-maxage=86400',
      'cross-origin-resource-policy': 'cross-origin',
    },
  }),
] as const satisfies readonly Route[];
