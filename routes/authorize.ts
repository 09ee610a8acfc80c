/** What the page of sign-ups asks for: a nonce for the passkey to sign, and the code that goes back to the app. */
import * as v from 'valibot';
import { AUTHORIZATION_CODE_MS, issueCode } from '../lib/authorization-codes/authorize.ts';
import { CODE_CHALLENGE } from '../lib/authorization-codes/challenge.ts';
import { demandRedirect } from '../lib/authorization-codes/redirects.ts';
import { badRequest } from '../lib/base/error.ts';
import type { ProvableChannel } from '../lib/identity/identifier.ts';
import { assertionOf, parseCredentialId } from '../lib/identity/passkey.ts';
import { answerRequest, cancelRequest } from '../lib/openid/authorize.ts';
import { createNonce, NONCE_LIFE_MS } from '../lib/registration/touch.ts';
import { AuthorizationCode, AuthorizationLocation, FreshNonce } from './answers/authorize.ts';
import { Attestation, Proof } from './answers/common.ts';
import {
  addressText,
  appName,
  credentialIdText,
  IDENTIFIER_CHARS_MAX,
  judged,
  nonceText,
  patternText,
  provableChannelName,
} from './fields.ts';
import { createReader, optional, required, textField } from './http/fields.ts';
import { json } from './http/response.ts';
import { post, type Route } from './http/route.ts';

const REQUEST_CHARS_MAX = 8_192;

/** Any text: what is signed at the account page has several lines. */
const requestText = v.pipe(
  v.string('Invalid request'),
  v.maxLength(REQUEST_CHARS_MAX, 'Invalid request'),
  v.check((text) => text.isWellFormed(), 'Invalid request'),
);

/** Which address of each channel the person gives the app; null for none. What is absent is the oldest one. */
const pickedAddress = v.optional(
  v.nullable(v.pipe(v.string('Invalid identifiers'), v.maxLength(IDENTIFIER_CHARS_MAX))),
);
const pickedAddresses = v.pipe(
  v.strictObject({ email: pickedAddress, sms: pickedAddress }, 'Invalid identifiers'),
  v.transform((picked) => picked as Readonly<Partial<Record<ProvableChannel, string | null>>>),
);

/** The link of an app; parameters that are not here are the page's. */
const readLink = createReader(
  {
    client_id: required(appName),
    redirect_uri: required(textField('redirect_uri')),
    code_challenge: required(patternText('code_challenge', CODE_CHALLENGE)),
    /** `plain` would put the verifier into the link. */
    code_challenge_method: required(v.literal('S256', 'Invalid code_challenge_method. Must be "S256"')),
    channel: optional(provableChannelName),
  },
  'query parameters',
);

/** Nonces and codes. */
export const authorizeRoutes = [
  post('/authorize/code', {
    summary: 'A nonce for a passkey to sign, or a code for an app, for the registration that the evidence shows',
    answers: { 200: v.union([FreshNonce, AuthorizationLocation, AuthorizationCode]) },
    errors: [
      'redirect_not_allowed',
      'proof_invalid',
      'attestation_invalid',
      'attestation_expired',
      'not_found',
      'registration_pending',
      'rpc_error',
    ],
    example: { fresh: true },
    limit: 'reads',
    fields: {
      request: required(requestText),
      fresh: required(v.literal(true, 'Invalid fresh')),
    },
    handler: ({ ctx, input }) => json({ nonce: createNonce(ctx, input.request), expires_in: NONCE_LIFE_MS / 1000 }),
    other: {
      applies: (_, { fresh }) => fresh !== true,
      limit: 'writes',
      fields: {
        request: required(requestText),
        cancelled: optional(v.literal(true, 'Invalid cancelled')),
        credentialId: optional(credentialIdText),
        nonce: optional(nonceText),
        proof: optional(judged(Proof)),
        smartAccount: optional(addressText('smartAccount')),
        attestation: optional(judged(Attestation)),
        identifiers: optional(pickedAddresses),
      },
      async handler({ ctx, input, client, spendProxy }) {
        const { request, nonce, proof, attestation, credentialId } = input;
        const { clients } = ctx;
        const isOpenId = clients !== undefined && /(?:^|&)response_type=/.test(request);
        if (isOpenId && input.cancelled) return json({ location: await cancelRequest({ ...ctx, clients }, request) });
        if (credentialId === undefined) throw badRequest('Missing required fields: credentialId');
        if ((proof === undefined) === (attestation === undefined))
          throw badRequest('Expected one of: proof, attestation');
        if (proof !== undefined && nonce === undefined) throw badRequest('Missing required fields with proof: nonce');
        // Both are judged by what the chain shows now.
        spendProxy();
        const shown = {
          request,
          client,
          credentialId: parseCredentialId(credentialId),
          evidence:
            proof === undefined || nonce === undefined
              ? { attestation }
              : { assertion: assertionOf(proof), nonce, account: input.smartAccount },
        };
        if (isOpenId) {
          const picked = input.identifiers ?? {};
          return json({ location: await answerRequest({ ...ctx, clients }, { ...shown, picked }) });
        }
        const link = linkIn(request);
        demandRedirect(ctx.config, { clientId: link.client_id, redirectUri: link.redirect_uri });
        const code = await issueCode(ctx, {
          ...shown,
          clientId: link.client_id,
          redirectUri: link.redirect_uri,
          codeChallenge: link.code_challenge,
          channel: link.channel,
        });
        return json({ code, iss: ctx.config.baseUrl, expires_in: AUTHORIZATION_CODE_MS / 1000 });
      },
    },
  }),
] as const satisfies readonly Route[];

/** What the query of the page's address asks for. Throws 400, also for a parameter that is there twice. */
function linkIn(request: string) {
  const query = new URLSearchParams(request);
  const names = [...query.keys()];
  if (new Set(names).size < names.length) throw badRequest('Invalid request: a parameter is there twice');
  return readLink(Object.fromEntries(query));
}
