/** `/authorize`: requests of apps are judged here, and the page shows those that are in order. */
import { countRefusal } from '../lib/authorization-codes/count.ts';
import { VaultError } from '../lib/base/error.ts';
import type { Clients } from '../lib/clients/client.ts';
import type { Context } from '../lib/context.ts';
import { rpIdOf } from '../lib/identity/ceremony.ts';
import { answerLocation } from '../lib/openid/answer.ts';
import { HINT_REFUSED, judgeHint } from '../lib/openid/authorize.ts';
import { type AuthorizationError, type JudgedRequest, QUERY_CHARS_MAX, type ReturnPlace } from '../lib/openid/judge.ts';
import { judgeRequest } from '../lib/openid/judge-request.ts';
import { explainFault } from '../lib/openid/refusal.ts';
import { logRefusal } from '../lib/openid/refusal-log.ts';
import { findFullLimit } from '../lib/registration/capacity.ts';
import { createTokenNonce } from '../lib/verification/token-nonce.ts';
import { AuthorizeConfig } from './answers/authorize.ts';
import { readFormText } from './http/body.ts';
import { required, textField } from './http/fields.ts';
import { QUIET_PAGE_HEADERS } from './http/page.ts';
import { json, type Reply } from './http/response.ts';
import { get, PLAIN_POST, type Route } from './http/route.ts';
import { file, fileReply } from './http/static-file.ts';
import { queryOf } from './http/target.ts';

const ASSET = '/authorize/index.html';
const OWN = { 'cross-origin-resource-policy': 'same-origin' };
const PAGE = { ...QUIET_PAGE_HEADERS, ...OWN, 'content-type': 'text/html; charset=utf-8' };
const ANSWERS = {
  200: { media: 'text/html', about: 'The page' },
  303: { media: null, about: 'To the redirect URI, with an error' },
  304: { media: null, about: 'The page that `If-None-Match` names' },
  400: { media: 'text/html', about: 'A page that leads nowhere: the client or its redirect URI is wrong' },
} as const;

/** The authorization endpoint (RFC 6749 section 3.1, OpenID Connect Core section 3.1.2.1). */
export const authorizePageRoutes = [
  get('/authorize', {
    summary: 'The page on which people sign in to an app, or sign up for it',
    isPage: true,
    answers: ANSWERS,
    errors: ['not_found', 'rate_limited'],
    handler: ({ ctx, request, spendProxy }) => reply(ctx, request, queryOf(request.url) ?? '', spendProxy),
  }),

  {
    ...PLAIN_POST,
    path: '/authorize',
    summary: 'The same request as a form',
    answers: { 303: { media: null, about: 'To the same request as GET' }, 400: ANSWERS[400] },
    errors: ['not_found', 'unsupported_media_type', 'rate_limited'],
    fields: {
      client_id: required(textField('client_id')),
      redirect_uri: required(textField('redirect_uri')),
      response_type: required(textField('response_type')),
      scope: required(textField('scope')),
    },
    body: 'form',
    limit: undefined,
    async handle({ ctx, request, client }, limits) {
      demandClients(ctx);
      const text = await readFormText(ctx.clock, request);
      if (text.length > QUERY_CHARS_MAX) return reply(ctx, request, text, () => limits.proxy(client));
      // A form whose text may not stand in a header is encoded again.
      const query = /^[!-~]*$/.test(text) && !text.includes('#') ? text : String(new URLSearchParams(`&${text}`));
      return { status: 303, headers: { location: `/authorize?${query}` }, body: null };
    },
  },

  file('/authorize/authorize.js', { type: 'text/javascript; charset=utf-8', headers: OWN }),
  file('/authorize/authorize.css', { type: 'text/css; charset=utf-8', headers: OWN }),

  get('/authorize/config', {
    summary: 'The configuration of the sign-in page',
    answers: { 200: AuthorizeConfig },
    errors: ['not_found'],
    limit: 'reads',
    async handler({ ctx, client }) {
      demandClients(ctx);
      const { config } = ctx;
      const channels = [
        ...(config.emailProvider === 'none' ? [] : ['email']),
        ...(config.smsProvider === 'none' ? [] : ['sms']),
      ];
      const full = await findFullLimit(ctx, client);
      return json({
        issuer: config.baseUrl,
        rpId: rpIdOf(config),
        registrar: config.registrarDid,
        channels,
        moveHours: config.addressMoveHours,
        recovers: ctx.guardian !== undefined,
        tokenNonce: config.emailTokens ? createTokenNonce(ctx, client) : null,
        full: full ? { error: full.error, retry_after: full.retryAfterSeconds } : null,
      });
    },
  }),
] as const satisfies readonly Route[];

async function reply(ctx: Context, request: Request, query: string, spend: () => void): Promise<Reply> {
  const judged = await judgeRequest({ ...ctx, clients: demandClients(ctx) }, query, spend);
  if ('fault' in judged) return faultPage(ctx, judged);
  if ('error' in judged) return errorReply(ctx, judged.place, judged.error, judged.about);
  if (!(await judgeHint(ctx, judged.valid))) return errorReply(ctx, judged.valid, 'invalid_request', HINT_REFUSED);
  const page = await demandPage(ctx);
  // A popup of the app's page keeps its opener, which waits for it: COOP would cut it off for good.
  const headers = { ...PAGE, 'cache-control': 'no-cache', 'cross-origin-opener-policy': 'unsafe-none' };
  const { client, app } = judged.valid;
  return client.document
    ? { status: 200, headers, body: withMeta(page, 'vault-app', app) }
    : fileReply(request, page, headers);
}

function errorReply(ctx: Context, place: ReturnPlace, error: AuthorizationError, about: string): Reply {
  note(ctx, error, place.client.id, about);
  const location = answerLocation(ctx.config.baseUrl, place, { error, error_description: about });
  return { status: 303, headers: { location, 'cache-control': 'no-store' }, body: null };
}

/** The page says that the link is wrong. The details go to its console, and on loopback to the page. */
async function faultPage(ctx: Context, judged: Extract<JudgedRequest, { fault: unknown }>): Promise<Reply> {
  const about = explainFault({ config: ctx.config, clients: demandClients(ctx) }, judged);
  note(ctx, judged.fault, judged.client?.id, about);
  return { status: 400, headers: PAGE, body: withMeta(await demandPage(ctx), 'vault-fault', about) };
}

/** The page, with what the vault alone knows of this request. */
function withMeta({ bytes }: { readonly bytes: Uint8Array }, name: string, content: string): string {
  const meta = `<meta name="${name}" content="${escaped(content)}">\n</head>`;
  return new TextDecoder().decode(bytes).replace('</head>', () => meta);
}

function note(ctx: Context, reason: string, client: string | undefined, about: string) {
  ctx.metrics.counter('vault_authorize_refused_total').add({ reason: reason as 'query' });
  countRefusal(ctx, client, 'link', reason);
  // That nobody is signed in is an ordinary answer.
  if (reason === 'login_required') return;
  logRefusal(ctx, 'authorize_refused', { reason, client, message: about });
}

function demandClients({ clients }: Context): Clients {
  if (!clients) throw new VaultError('not_found');
  return clients;
}

async function demandPage(ctx: Context) {
  const page = await ctx.files(ASSET);
  if (!page) throw new VaultError('not_found');
  return page;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
