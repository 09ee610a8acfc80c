/** The page on which people sign up for an app, or sign in, and the exchange of its codes. */
import { CODE_VERIFIER } from '../lib/authorization-codes/challenge.ts';
import { exchangeCode } from '../lib/authorization-codes/exchange.ts';
import { demandRedirect, isRedirect } from '../lib/authorization-codes/redirects.ts';
import { isoTime } from '../lib/base/clock.ts';
import { rpIdOf } from '../lib/identity/ceremony.ts';
import { findFullLimit } from '../lib/registration/capacity.ts';
import { ProvenPerson, RegisterConfig } from './answers/register.ts';
import { appName, patternText } from './fields.ts';
import { required, textField, word } from './http/fields.ts';
import { QUIET_PAGE_HEADERS, withOpener } from './http/page.ts';
import { json } from './http/response.ts';
import { get, post, type Route } from './http/route.ts';
import { file } from './http/static-file.ts';

const OWN = { 'cross-origin-resource-policy': 'same-origin' };

const clientId = required(appName);
const redirectUri = required(textField('redirect_uri'));
const codeVerifier = patternText('code_verifier', CODE_VERIFIER);

/** The hosted page, what it asks, and the exchange of its codes. */
export const registerRoutes = [
  withOpener(
    file('/register', {
      asset: '/authorize/index.html',
      type: 'text/html; charset=utf-8',
      summary: 'The page on which people sign up for an app: [register.md](register.md)',
      headers: { ...QUIET_PAGE_HEADERS, ...OWN },
    }),
    ({ config }, query) => {
      const [clientId, redirectUri] = [query.get('client_id') ?? '', query.get('redirect_uri') ?? ''];
      return isRedirect(config, { clientId, redirectUri });
    },
  ),
  file('/authorize/authorize.js', { type: 'text/javascript; charset=utf-8', headers: OWN }),
  file('/authorize/authorize.css', { type: 'text/css; charset=utf-8', headers: OWN }),

  get('/register/config', {
    summary: 'What the sign-up page learns of the vault',
    answers: { 200: RegisterConfig },
    errors: ['redirect_not_allowed'],
    limit: 'reads',
    fields: { client_id: clientId, redirect_uri: redirectUri },
    async handler({ ctx, input, client }) {
      const { config } = ctx;
      const { client_id: clientId, redirect_uri: redirectUri } = input;
      if (!ctx.clients?.get(clientId)?.redirectUris.includes(redirectUri))
        demandRedirect(config, { clientId, redirectUri });
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
        full: full ? { error: full.error, retry_after: full.retryAfterSeconds } : null,
      });
    },
  }),

  post('/api/register/token', {
    summary: 'Exchange a code, once, for who signed up or in',
    answers: { 200: ProvenPerson },
    errors: ['invalid_grant', 'rpc_error'],
    example: { code: '$AUTHORIZATION_CODE' },
    limit: 'reads',
    fields: {
      client_id: clientId,
      redirect_uri: redirectUri,
      code: required(word('code')),
      code_verifier: required(codeVerifier),
    },
    async handler({ ctx, input }) {
      const { client_id, redirect_uri, code, code_verifier } = input;
      const request = { clientId: client_id, redirectUri: redirect_uri, code, codeVerifier: code_verifier };
      const { code: issued, identity } = await exchangeCode(ctx, request);
      return json({ ...identity, verified_at: isoTime(issued.verifiedAt) });
    },
  }),
] as const satisfies readonly Route[];
