/** `/token`: codes are exchanged by apps that authenticate. */
import * as v from 'valibot';
import { countRefusal } from '../lib/authorization-codes/count.ts';
import { VaultError } from '../lib/base/error.ts';
import { isConfidential } from '../lib/clients/client.ts';
import { recordWrongSecret } from '../lib/limits/limit-events.ts';
import { authenticate, invalidRequest } from '../lib/openid/authenticate.ts';
import { readParameters } from '../lib/openid/parameters.ts';
import { logRefusal } from '../lib/openid/refusal-log.ts';
import { exchangeForTokens } from '../lib/openid/tokens.ts';
import { Tokens } from './answers/openid.ts';
import { readFormText } from './http/body.ts';
import { optional, required, textField } from './http/fields.ts';
import { demandClientOrigin } from './http/origin.ts';
import { json } from './http/response.ts';
import { type Incoming, type Limits, PLAIN_POST, type Route } from './http/route.ts';

/** The example of RFC 7636, appendix B. */
const CODE_VERIFIER_SAMPLE = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** The token endpoint (RFC 6749 section 3.2). */
export const tokenEndpointRoutes = [
  {
    ...PLAIN_POST,
    path: '/token',
    summary: 'Exchange a code, once, for an ID token and an access token',
    answers: { 200: Tokens },
    errors: [
      'not_found',
      'invalid_request',
      'invalid_client',
      'unsupported_grant_type',
      'invalid_grant',
      'invalid_target',
      'origin_not_allowed',
      'rate_limited',
      'rpc_error',
    ],
    example: {
      code: '$AUTHORIZATION_CODE',
      code_verifier: CODE_VERIFIER_SAMPLE,
      client_id: 'tea',
      client_secret: '$CLIENT_SECRET',
    },
    fields: {
      grant_type: required(v.literal('authorization_code')),
      code: required(textField('code')),
      redirect_uri: required(textField('redirect_uri')),
      code_verifier: optional(textField('code_verifier')),
      resource: optional(textField('resource')),
      client_id: optional(textField('client_id')),
      client_secret: optional(textField('client_secret')),
      client_assertion_type: optional(textField('client_assertion_type')),
      client_assertion: optional(textField('client_assertion')),
    },
    body: 'form',
    limit: undefined,
    isOAuth: true,
    async handle(incoming, limits) {
      const count = (outcome: string) =>
        incoming.ctx.metrics.counter('vault_token_requests_total').add({ outcome: outcome as 'failed' });
      try {
        const tokens = await exchange(incoming, limits);
        count('answered');
        return json(tokens, { headers: NO_STORE });
      } catch (error) {
        const code = error instanceof VaultError ? error.code : 'failed';
        count(COUNTED.includes(code) ? code : 'failed');
        throw error;
      }
    },
  },
] as const satisfies readonly Route[];

const COUNTED: readonly string[] = [
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_grant',
  'invalid_target',
];

/** Requests of a client with a secret count for it; all others count for their sender, unless they are answered. */
async function exchange({ ctx, request, client: caller }: Incoming, limits: Limits) {
  const { clients, config } = ctx;
  if (!clients) throw new VaultError('not_found');
  let isCounted = false;
  let refused: string | undefined;
  try {
    const text = await readFormText(ctx.clock, request).catch((error: unknown) => {
      const isForm = !(error instanceof VaultError && error.code === 'unsupported_media_type');
      throw isForm ? error : invalidRequest('Send a form: Content-Type: application/x-www-form-urlencoded.');
    });
    const form = readParameters(text);
    if (form.repeated !== undefined) throw invalidRequest('A field is there twice.');
    const client = await authenticate(
      { ...ctx, clients },
      {
        authorization: request.headers.get('authorization'),
        form,
        onWrongSecret({ id }) {
          countRefusal(ctx, id, 'token', 'invalid_client');
          recordWrongSecret(ctx, id, caller);
        },
        onRefused: (refused, message) =>
          logRefusal(ctx, 'token_refused', { reason: 'invalid_client', client: refused?.id, message }),
        spend: () => limits.proxy(caller),
      },
    );
    refused = client.id;
    demandClientOrigin(config, request, client);
    isCounted = isConfidential(client);
    if (isCounted) limits.app(client.id);
    const tokens = await exchangeForTokens(ctx, client, form);
    if (!isCounted) limits.app(client.id);
    return tokens;
  } catch (error) {
    if (refused !== undefined && error instanceof VaultError) noteRefusal(ctx, refused, error);
    if (!isCounted && error instanceof VaultError && error.code !== 'rate_limited') limits.reads(caller);
    throw error;
  }
}

function noteRefusal(ctx: Incoming['ctx'], client: string, { code, message, details }: VaultError): void {
  const reason = details.reason ?? code;
  countRefusal(ctx, client, 'token', reason);
  // A limit and a node that is away have lines of their own.
  if (COUNTED.includes(code)) logRefusal(ctx, 'token_refused', { reason, client, message: details.hint ?? message });
}
