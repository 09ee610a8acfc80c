/** Credentials of proven addresses: by a passkey, and their types. */
import { VaultError } from '../lib/base/error.ts';
import { offersCredentials } from '../lib/config/credential-settings.ts';
import type { Context } from '../lib/context.ts';
import { issueByPasskey } from '../lib/credentials/by-passkey.ts';
import { type CredentialKind, typeMetadata } from '../lib/credentials/types.ts';
import { parseIdentifier } from '../lib/identity/identifier.ts';
import { assertionOf, parseCredentialId } from '../lib/identity/passkey.ts';
import { Proof } from './answers/common.ts';
import { CredentialIssued, CredentialType } from './answers/credentials.ts';
import {
  addressText,
  credentialIdText,
  holderText,
  identifierText,
  judged,
  nonceText,
  provableChannelName,
} from './fields.ts';
import { optional, required } from './http/fields.ts';
import { json } from './http/response.ts';
import { get, post, type Route } from './http/route.ts';

/** The types' metadata changes with the program alone. */
const CACHE = { 'cache-control': 'public, max-age=3600' };

/** Credentials by a passkey, and the types of all. */
export const credentialRoutes = [
  post('/api/credentials', {
    summary: 'A credential of an address, by the passkey of the DID that holds it',
    limit: 'writes',
    fields: {
      identifier: required(identifierText),
      channel: required(provableChannelName),
      credentialId: required(credentialIdText),
      proof: required(judged(Proof)),
      nonce: required(nonceText),
      smartAccount: optional(addressText('smartAccount')),
      holder: required(holderText),
    },
    answers: { 200: CredentialIssued },
    errors: ['proof_invalid', 'not_found', 'rpc_error'],
    example: { nonce: '$NONCE' },
    async handler({ ctx, app, input, spendProxy }) {
      if (!offersCredentials(ctx.config)) throw new VaultError('not_found');
      const identifier = parseIdentifier(input.channel, input.identifier, ctx.config);
      const { nonce, holder, smartAccount: account } = input;
      const touch = { assertion: assertionOf(input.proof), nonce, holder, account };
      const credentialId = parseCredentialId(input.credentialId);
      spendProxy();
      return json({ ok: true, ...(await issueByPasskey(ctx, { identifier, credentialId, app, ...touch })) });
    },
  }),

  get('/credentials/types/email', {
    summary: 'The type of a credential of a proven mail address',
    answers: { 200: CredentialType },
    errors: ['not_found'],
    isPage: true,
    handler: ({ ctx }) => describeType(ctx, 'email'),
  }),

  get('/credentials/types/phone', {
    summary: 'The type of a credential of a proven phone number',
    answers: { 200: CredentialType },
    errors: ['not_found'],
    isPage: true,
    handler: ({ ctx }) => describeType(ctx, 'phone'),
  }),
] as const satisfies readonly Route[];

function describeType({ config }: Context, kind: CredentialKind) {
  if (!offersCredentials(config)) throw new VaultError('not_found');
  return json(typeMetadata(config, kind), { headers: CACHE });
}
