/** The routes behind the sign-in page: a nonce for the passkey to sign, and the code that goes back to the app. */
import * as v from 'valibot';
import { badRequest, VaultError } from '../lib/base/error.ts';
import type { ProvableChannel } from '../lib/identity/identifier.ts';
import { assertionOf, parseCredentialId } from '../lib/identity/passkey.ts';
import { answerRequest, cancelRequest, type PersonsChoice } from '../lib/openid/authorize.ts';
import { createNonce, NONCE_LIFE_MS } from '../lib/registration/touch.ts';
import { AddressChoice, AuthorizationLocation, FreshNonce } from './answers/authorize.ts';
import { Attestation, Proof } from './answers/common.ts';
import { addressText, credentialIdText, IDENTIFIER_CHARS_MAX, judged, nonceText } from './fields.ts';
import { optional, required } from './http/fields.ts';
import { json } from './http/response.ts';
import { post, type Route } from './http/route.ts';

const REQUEST_CHARS_MAX = 8_192;

/** Any text: the request signed at the account page has several lines. */
const requestText = v.pipe(
  v.string('Invalid request'),
  v.maxLength(REQUEST_CHARS_MAX, 'Invalid request'),
  v.check((text) => text.isWellFormed(), 'Invalid request'),
);

/**
 * The address of each channel that the person gives the app; null for none. An absent channel means its oldest address.
 * Without this field, the person is asked where there is a choice.
 */
const pickedAddress = v.optional(
  v.nullable(v.pipe(v.string('Invalid identifiers'), v.maxLength(IDENTIFIER_CHARS_MAX))),
);
const pickedAddresses = v.pipe(
  v.strictObject({ email: pickedAddress, sms: pickedAddress }, 'Invalid identifiers'),
  v.transform((picked) => picked as Readonly<Partial<Record<ProvableChannel, string | null>>>),
);

/** Nonces and codes. */
export const authorizeRoutes = [
  post('/authorize/code', {
    summary: 'A nonce for a passkey to sign, or a code for an app, for the registration that the evidence shows',
    answers: { 200: v.union([FreshNonce, AuthorizationLocation, AddressChoice]) },
    errors: [
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
        if (!clients) throw new VaultError('not_found');
        if (input.cancelled) return json({ location: await cancelRequest({ ...ctx, clients }, request, spendProxy) });
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
        const next = await answerRequest(
          { ...ctx, clients },
          {
            ...shown,
            picked: input.identifiers,
            spend: spendProxy,
          },
        );
        return json('location' in next ? next : choiceReply(next.choice));
      },
    },
  }),
] as const satisfies readonly Route[];

function choiceReply({ channels, addresses, did, account, key }: PersonsChoice) {
  const pubKey = { pubKeyX: key.slice(0, 66), pubKeyY: `0x${key.slice(66)}` };
  return {
    channels,
    addresses: addresses.map(({ movesAt, ...one }) => ({ ...one, moves_at: movesAt })),
    ...{ did, smartAccount: account, ...pubKey },
  };
}
