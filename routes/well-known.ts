import { VaultError } from '../lib/base/error.ts';
import { offersCredentials } from '../lib/config/credential-settings.ts';
import { discoveryDocument, serverMetadata } from '../lib/openid/discovery.ts';
import { credentialKeys, publishedKeys } from '../lib/signing/signing-keys.ts';
import { CredentialIssuer } from './answers/credentials.ts';
import { ProviderMetadata, ServerMetadata } from './answers/openid.ts';
import { DidDocument, RelatedOrigins } from './answers/vault.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** These documents change with the settings alone, or with a key that is published a day before it signs. */
const CACHE = { 'cache-control': 'public, max-age=3600' };

/** The well-known paths: the registrar's DID document, manifests, related origins, and where faults are reported. */
export const wellKnownRoutes = [
  get('/.well-known/did.json', {
    summary: "The registrar's DID document",
    answers: { 200: DidDocument },
    errors: ['not_found'],
    isPage: true,
    async handler({ ctx }) {
      // Loads a curve, which no other route of a start needs.
      const { registrarDocument } = await import('../lib/identity/did-document.ts');
      const document = registrarDocument(ctx, await credentialKeys(ctx));
      if (!document) throw new VaultError('not_found');
      return json(document, { headers: CACHE });
    },
  }),

  get('/.well-known/jwt-vc-issuer', {
    summary: 'The issuer of credentials, with its keys',
    answers: { 200: CredentialIssuer },
    errors: ['not_found'],
    isPage: true,
    async handler({ ctx }) {
      if (!offersCredentials(ctx.config)) throw new VaultError('not_found');
      const keys = await publishedKeys(ctx, 'ES256');
      return json({ issuer: ctx.config.baseUrl, jwks: { keys } }, { headers: CACHE });
    },
  }),

  get('/.well-known/openid-configuration', {
    summary: 'The metadata of the OpenID Provider',
    answers: { 200: ProviderMetadata },
    errors: ['not_found'],
    isPage: true,
    handler({ ctx: { clients, config, words } }) {
      if (!clients) throw new VaultError('not_found');
      return json(discoveryDocument(config, words.languagesOf('authorize')), { headers: CACHE });
    },
  }),

  get('/.well-known/oauth-authorization-server', {
    summary: 'The metadata of the authorization server',
    answers: { 200: ServerMetadata },
    errors: ['not_found'],
    isPage: true,
    handler({ ctx: { clients, config, words } }) {
      if (!clients) throw new VaultError('not_found');
      return json(serverMetadata(config, words.languagesOf('authorize')), { headers: CACHE });
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

  get('/.well-known/security.txt', {
    summary: 'Where a vulnerability is reported (RFC 9116), by `SECURITY_CONTACT`',
    answers: { 200: { media: 'text/plain', about: 'Contact and Expires; Canonical for an https origin' } },
    errors: ['not_found'],
    isPage: true,
    handler({ ctx: { clock, config } }) {
      const { securityContact, baseUrl } = config;
      if (securityContact === undefined) throw new VaultError('not_found');
      const lines = [`Contact: ${securityContact}`, `Expires: ${expiresOn(clock.now())}`];
      if (baseUrl.startsWith('https:')) lines.push(`Canonical: ${baseUrl}/.well-known/security.txt`);
      const headers = { ...CACHE, 'content-type': 'text/plain; charset=utf-8' };
      return { status: 200, headers, body: `${lines.join('\n')}\n` };
    },
  }),
] as const satisfies readonly Route[];

/** The settings answer for the contact as long as the vault runs; a copy of the file is good for a month. */
const CONTACT_DAYS = 30;
const DAY_MS = 86_400_000;

/** The midnight after the contact's days, as RFC 3339 writes it. */
function expiresOn(now: number): string {
  const day = Math.floor(now / DAY_MS) + CONTACT_DAYS;
  return new Date(day * DAY_MS).toISOString().replace('.000', '');
}
