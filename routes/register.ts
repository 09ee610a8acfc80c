/** The page on which people sign up for an app, or sign in, and the codes that tell the app who they are. */
import * as v from 'valibot';
import { AUTHORIZATION_CODE_MS, issueCode } from '../lib/authorization-codes/authorize.ts';
import { CODE_CHALLENGE, CODE_VERIFIER } from '../lib/authorization-codes/challenge.ts';
import { exchangeCode } from '../lib/authorization-codes/exchange.ts';
import { demandRedirect, isRedirect } from '../lib/authorization-codes/redirects.ts';
import { badRequest } from '../lib/base/error.ts';
import { rpIdOf } from '../lib/identity/ceremony.ts';
import { assertionOf, parseCredentialId } from '../lib/identity/passkey.ts';
import { findFullLimit } from '../lib/registration/capacity.ts';
import { Attestation, Proof } from './answers/common.ts';
import { AuthorizationCode, ProvenPerson, RegisterConfig } from './answers/register.ts';
import { addressText, appName, credentialIdText, judged, proofExpiresAtValue, provableChannelName } from './fields.ts';
import { optional, required, textField, word } from './http/fields.ts';
import { QUIET_PAGE_HEADERS, withOpener } from './http/page.ts';
import { json } from './http/response.ts';
import { get, post, type Route } from './http/route.ts';
import { file } from './http/static-file.ts';

const OWN = { 'cross-origin-resource-policy': 'same-origin' };

const clientId = required(appName);
const redirectUri = required(textField('redirect_uri'));
const codeChallenge = matching('code_challenge', CODE_CHALLENGE);
const codeVerifier = matching('code_verifier', CODE_VERIFIER);
/** `plain` would put the verifier into the link. */
const challengeMethod = v.literal('S256', 'Invalid code_challenge_method. Must be "S256"');

/** The hosted page, what it asks, and the exchange of its codes. */
export const registerRoutes = [
  withOpener(
    file('/register', {
      asset: '/register/index.html',
      type: 'text/html; charset=utf-8',
      summary: 'The page on which people sign up for an app: [register.md](register.md)',
      headers: { ...QUIET_PAGE_HEADERS, ...OWN },
    }),
    ({ config }, query) => {
      const [clientId, redirectUri] = [query.get('client_id') ?? '', query.get('redirect_uri') ?? ''];
      return isRedirect(config, { clientId, redirectUri });
    },
  ),
  file('/register/register.js', { type: 'text/javascript; charset=utf-8', headers: OWN }),
  file('/register/register.css', { type: 'text/css; charset=utf-8', headers: OWN }),

  get('/register/config', {
    summary: 'What the sign-up page learns of the vault',
    answers: { 200: RegisterConfig },
    errors: ['redirect_not_allowed'],
    limit: 'reads',
    fields: { client_id: clientId, redirect_uri: redirectUri },
    async handler({ ctx, input, client }) {
      const { config } = ctx;
      demandRedirect(config, { clientId: input.client_id, redirectUri: input.redirect_uri });
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
        full: full ? { error: full.error, retry_after: full.retryAfterSeconds } : null,
      });
    },
  }),

  post('/api/register/authorize', {
    summary: 'A code for an app, for the registration that the evidence shows',
    answers: { 200: AuthorizationCode },
    errors: [
      'redirect_not_allowed',
      'proof_invalid',
      'attestation_invalid',
      'attestation_expired',
      'not_found',
      'rpc_error',
    ],
    example: { proof: '$PROOF', proofExpiresAt: '$PROOF_EXPIRES_AT' },
    limit: 'writes',
    fields: {
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: required(codeChallenge),
      code_challenge_method: required(challengeMethod),
      credentialId: required(credentialIdText),
      proof: optional(judged(Proof)),
      proofExpiresAt: optional(proofExpiresAtValue),
      smartAccount: optional(addressText('smartAccount')),
      attestation: optional(judged(Attestation)),
      channel: optional(provableChannelName),
    },
    async handler({ ctx, input, spendProxy }) {
      const { proof, attestation } = input;
      if ((proof === undefined) === (attestation === undefined))
        throw badRequest('Expected one of: proof, attestation');
      // Both are judged by what the chain shows now.
      spendProxy();
      const code = await issueCode(ctx, {
        clientId: input.client_id,
        redirectUri: input.redirect_uri,
        codeChallenge: input.code_challenge,
        credentialId: parseCredentialId(input.credentialId),
        evidence:
          proof === undefined
            ? { attestation }
            : {
                proof: { assertion: assertionOf(proof), expiresAt: input.proofExpiresAt },
                account: input.smartAccount,
              },
        channel: input.channel,
      });
      return json({ code, iss: ctx.config.baseUrl, expires_in: AUTHORIZATION_CODE_MS / 1000 });
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
      return json(await exchangeCode(ctx, request));
    },
  }),
] as const satisfies readonly Route[];

function matching(name: string, pattern: RegExp) {
  const message = `Invalid ${name}`;
  return v.pipe(v.string(message), v.regex(pattern, message));
}
