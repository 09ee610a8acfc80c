/** The logo of the operator's brand, or of an app's. */

import { VaultError } from '../lib/base/error.ts';
import type { Logo } from '../lib/brand/logo.ts';
import { createFile, type File } from '../lib/static-files.ts';
import { appName } from './fields.ts';
import { optional } from './http/fields.ts';
import { get, type Route } from './http/route.ts';
import { fileReply } from './http/static-file.ts';

/** A logo is an image and nothing else: opened as a page, it runs nothing and loads nothing. */
const LOGO_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};

/** Hashed and compressed once. */
const known = new WeakMap<Logo, File>();

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
    async handler({ ctx, app, input, request }) {
      const { logo } = ctx.brandOf(input.app ?? app);
      if (!logo) throw new VaultError('not_found');
      const file = known.get(logo) ?? (await createFile(logo.bytes));
      known.set(logo, file);
      return fileReply(request, file, { ...LOGO_HEADERS, 'content-type': logo.type }, 'x-vault-app');
    },
  }),
] as const satisfies readonly Route[];
