/** The logo of the operator's brand, or of an app's. */

import { toBase64url } from '../lib/base/bytes.ts';
import { VaultError } from '../lib/base/error.ts';
import { sha256Digest } from '../lib/base/hmac.ts';
import { appName } from './fields.ts';
import { optional } from './http/fields.ts';
import { get, type Route } from './http/route.ts';
import { isNamed } from './http/static-file.ts';

/** A logo is an image and nothing else: opened as a page, it runs nothing and loads nothing. */
const LOGO_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

/** `GET /brand/logo`. */
export const brandRoutes = [
  get('/brand/logo', {
    summary: 'The logo of the operator, or of an app',
    fields: { app: optional(appName) },
    answers: {
      200: { media: 'image/*', about: 'SVG or PNG, with a policy that runs nothing' },
      304: { media: null, about: 'The logo that `If-None-Match` names' },
    },
    errors: ['not_found'],
    handler({ ctx, app, input, request }) {
      const { logo } = ctx.brandOf(input.app ?? app);
      if (!logo) throw new VaultError('not_found');
      const etag = `"${toBase64url(sha256Digest(logo.bytes).subarray(0, 16))}"`;
      const headers = { ...LOGO_HEADERS, 'content-type': logo.type, etag };
      if (isNamed(request.headers.get('if-none-match'), etag)) return { status: 304, headers, body: null };
      return { status: 200, headers, body: logo.bytes };
    },
  }),
] as const satisfies readonly Route[];
