import { VaultError } from '../lib/base/error.ts';
import { DidDocument, RelatedOrigins } from './answers/vault.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** These documents change with the settings alone. */
const CACHE = { 'cache-control': 'public, max-age=3600' };

/** The well-known paths: the registrar's DID document, the payment method's manifest, related origins of passkeys. */
export const wellKnownRoutes = [
  get('/.well-known/did.json', {
    summary: "The registrar's DID document",
    answers: { 200: DidDocument },
    errors: ['not_found'],
    isPage: true,
    async handler({ ctx }) {
      // Loads a curve, which no other route of a start needs.
      const { registrarDocument } = await import('../lib/identity/did-document.ts');
      const document = registrarDocument(ctx);
      if (!document) throw new VaultError('not_found');
      return json(document, { headers: CACHE });
    },
  }),

  get('/.well-known/payment-method-manifest', {
    summary: 'The manifest of the payment method',
    answers: { 302: { media: null, about: 'To `/pay/payment-method.json`' } },
    isPage: true,
    handler: () => ({
      status: 302,
      headers: { ...CACHE, location: '/pay/payment-method.json' },
      body: null,
    }),
  }),

  get('/.well-known/webauthn', {
    summary: "The origins that may use the vault's passkeys",
    answers: { 200: RelatedOrigins },
    errors: ['not_found'],
    isPage: true,
    handler({ ctx: { config } }) {
      if (config.relatedOrigins.length === 0) throw new VaultError('not_found');
      return json({ origins: config.relatedOrigins }, { headers: CACHE });
    },
  }),
] as const satisfies readonly Route[];
