/** `/approve`: the page on which people have their passkey sign a text of an app. It asks what `/pay` asks. */
import { QUIET_PAGE_HEADERS, withOpener } from './http/page.ts';
import type { Route } from './http/route.ts';
import { file } from './http/static-file.ts';

const OWN = { 'cross-origin-resource-policy': 'same-origin' };

const PAGE = {
  asset: '/approve/index.html',
  type: 'text/html; charset=utf-8',
  summary: 'The page on which people approve a text, or a payment of USDC',
  headers: { ...QUIET_PAGE_HEADERS, ...OWN },
};

/** The page with its script and style. */
export const approveRoutes = [
  withOpener(file('/approve', PAGE)),
  file('/approve/approve.js', { type: 'text/javascript; charset=utf-8', headers: OWN }),
  file('/approve/approve.css', { type: 'text/css; charset=utf-8', headers: OWN }),
] as const satisfies readonly Route[];
