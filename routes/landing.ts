/** The front door: the service and its links, and the files that browsers and crawlers ask every site for. */

import type { Context } from '../lib/context.ts';
import { QUIET_PAGE_HEADERS } from './http/page.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';
import { file, fileReply } from './http/static-file.ts';

const OWN = { 'cross-origin-resource-policy': 'same-origin' };
const HTML = 'text/html; charset=utf-8';

/** Search engines may index only the front door (RFC 9309). */
const ROBOTS = 'User-agent: *\nAllow: /$\nDisallow: /\n';

/** The page, its content as JSON, its files, and the files that browsers and crawlers ask for by themselves. */
export const landingRoutes = [
  get('/', {
    summary: 'The service and its links; without `text/html` in `Accept` as JSON',
    isPage: true,
    answers: {
      200: { media: HTML, otherMedia: 'application/json', about: 'The page, or its content' },
      304: { media: null, about: 'The page that `If-None-Match` names' },
    },
    async handler({ ctx, app, request }) {
      const page = /\btext\/html\b/i.test(request.headers.get('accept') ?? '')
        ? await ctx.files('/landing/index.html')
        : undefined;
      if (!page) return json(describeVault(ctx, app), { headers: { 'cache-control': 'no-cache', vary: 'accept' } });
      const headers = { ...QUIET_PAGE_HEADERS, ...OWN, 'content-type': HTML, 'cache-control': 'no-cache' };
      return fileReply(request, page, headers, 'accept');
    },
  }),
  file('/landing/landing.js', { type: 'text/javascript; charset=utf-8', headers: OWN }),
  file('/landing/landing.css', { type: 'text/css; charset=utf-8', headers: OWN }),
  file('/favicon.ico', {
    type: 'image/x-icon',
    summary: 'The icon, for programs that ask without reading a page',
    headers: { 'cache-control': 'public, max-age=86400' },
  }),
  get('/robots.txt', {
    summary: 'Crawlers may read `/` alone (RFC 9309)',
    isPage: true,
    answers: { 200: { media: 'text/plain', about: 'The rules' } },
    handler: () => ({
      status: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=86400' },
      body: ROBOTS,
    }),
  }),
] as const satisfies readonly Route[];

/** The service's name, its origin, and the paths of its parts; null for parts that its settings leave out. */
function describeVault({ config, brandOf }: Context, app: string) {
  // An account acts by user operations.
  const hasAccounts = config.bundlerUrl !== undefined && config.accountFactory2Address !== null;
  return {
    name: brandOf(app).name,
    url: config.baseUrl,
    links: {
      account: hasAccounts ? '/account' : null,
      pay: hasAccounts ? '/pay' : null,
      openid: config.clients === undefined ? null : '/.well-known/openid-configuration',
      // With a listener of its own it is not reached here.
      console: config.adminPort === undefined ? '/console' : null,
      api: '/openapi.json',
      client: '/client.js',
      status: '/api/status',
      security: config.securityContact === undefined ? null : '/.well-known/security.txt',
    },
  };
}
