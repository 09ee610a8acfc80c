/** The page of a pass: its link comes by mail, and its button lets the client that presses it send codes. */

import { usePass } from '../lib/verification/pass.ts';
import { pageApp, pageLanguage, ticketText } from './fields.ts';
import { optional, required } from './http/fields.ts';
import type { Reply } from './http/response.ts';
import { postForm, type Route } from './http/route.ts';
import { file } from './http/static-file.ts';

const HTML = 'text/html; charset=utf-8';

/** The page loads nothing from elsewhere, has nothing inline, and cannot be framed. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
};
const OWN = { 'cross-origin-resource-policy': 'same-origin' };

const fields = { pass: required(ticketText('pass')), lang: optional(pageLanguage), app: optional(pageApp) };

/** The page, its form, and the pages that follow. Only the POST changes anything. */
export const passRoutes = [
  file('/pass', { asset: '/pass/index.html', type: HTML, summary: 'The page of a pass', headers: PAGE_HEADERS }),
  file('/pass/ready', { asset: '/pass/ready.html', type: HTML, headers: PAGE_HEADERS }),
  file('/pass/ended', { asset: '/pass/ended.html', type: HTML, headers: PAGE_HEADERS }),
  file('/pass/pass.js', { type: 'text/javascript; charset=utf-8', headers: OWN }),
  file('/pass/pass.css', { type: 'text/css; charset=utf-8', headers: OWN }),

  postForm('/pass', {
    summary: 'Let this client send codes for 15 minutes',
    answers: { 303: { media: null, about: 'To `/pass/ready` or `/pass/ended`' } },
    limit: 'reads',
    fields,
    async handler({ ctx, input, client }) {
      const isGranted = await usePass(ctx, { pass: input.pass, ip: client });
      const query = new URLSearchParams();
      if (input.lang !== undefined) query.set('lang', input.lang);
      if (input.app !== undefined) query.set('app', input.app);
      return seeOther(`/pass/${isGranted ? 'ready' : 'ended'}${query.size > 0 ? `?${query}` : ''}`);
    },
  }),
] as const satisfies readonly Route[];

/** 303: the browser gets the page of the outcome, and a reload of it sends nothing again. */
function seeOther(location: string): Reply {
  return { status: 303, headers: { location }, body: null };
}
