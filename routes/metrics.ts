import { equalText } from '../lib/base/bytes.ts';
import { VaultError } from '../lib/base/error.ts';
import { inCidr, parseCidr, parseIp } from '../lib/base/ip.ts';
import type { Context } from '../lib/context.ts';
import { chooseFormat, formatMetrics, PROMETHEUS_CONTENT_TYPES } from '../lib/monitoring/prometheus.ts';
import { createHosts } from './http/host.ts';
import { bearerToken } from './http/operator-auth.ts';
import { type Call, get, type Route } from './http/route.ts';

/** The vault's measurements for Prometheus: no identifier, address or secret is among them. */
export const metricsRoutes = [
  get('/metrics', {
    summary: 'Measurements for Prometheus',
    security: 'metrics',
    answers: {
      200: {
        media: 'text/plain',
        otherMedia: 'application/openmetrics-text',
        about: 'The text exposition, or OpenMetrics by `Accept`',
      },
    },
    errors: ['metrics_forbidden'],
    handler(call) {
      if (!mayRead(call)) throw new VaultError('metrics_forbidden');
      const format = chooseFormat(call.request.headers.get('accept'));
      const headers = { 'content-type': PROMETHEUS_CONTENT_TYPES[format], vary: 'accept' };
      return { status: 200, headers, body: formatMetrics(call.ctx.metrics.read(), format) };
    },
  }),
] as const satisfies readonly Route[];

/** A page of another site runs in a browser that may be an allowed peer: it needs the token. */
function mayRead({ ctx: { config }, request, peer }: Call<unknown>): boolean {
  if (hasToken(request, config.metricsToken)) return true;
  // By DNS rebinding, a page may look same-origin to its own browser. Its host gives it away.
  return !isFromPage(request) && createHosts(config).isOwn(request) && isAllowed(config, peer);
}

function hasToken(request: Request, token: string | undefined): boolean {
  const given = bearerToken(request);
  return token !== undefined && given !== undefined && equalText(given, token);
}

function isFromPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  return request.headers.has('origin') || (site !== null && site !== 'same-origin' && site !== 'none');
}

/** Only the socket's other end counts: any sender can write an address into a header. */
function isAllowed({ metricsAllow }: Context['config'], peer: string | undefined): boolean {
  const ip = peer === undefined ? undefined : parseIp(peer);
  if (!ip) return false;
  return metricsAllow.some((entry) => {
    const network = parseCidr(entry);
    return network !== undefined && inCidr(ip, network);
  });
}
