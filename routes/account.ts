/** The account page: keys, recovery and the account's other screens. Its calls are those of the API. */

import { PAGE_HEADERS } from './http/page.ts';
import type { Route } from './http/route.ts';
import { file } from './http/static-file.ts';

const OWN = { 'cross-origin-resource-policy': 'same-origin' };
const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** The page, its script and style, the two parts that it loads when it needs them, and the shared design. */
export const accountPageRoutes = [
  file('/account', {
    asset: '/account/index.html',
    type: HTML,
    summary: 'The account page',
    headers: { ...PAGE_HEADERS, ...OWN },
  }),
  file('/account/account.js', { type: SCRIPT, headers: OWN }),
  file('/account/qr.js', { type: SCRIPT, headers: OWN }),
  file('/account/statement.js', { type: SCRIPT, headers: OWN }),
  file('/account/account.css', { type: STYLE, headers: OWN }),
  file('/design/tokens.css', { type: STYLE, headers: OWN }),
  file('/design/parts.css', { type: STYLE, headers: OWN }),
] as const satisfies readonly Route[];
