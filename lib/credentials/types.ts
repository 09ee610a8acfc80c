// The types of credentials, and their metadata (draft-ietf-oauth-sd-jwt-vc section 4).
import type { ProvableChannel } from '../identity/identifier.ts';

/** The kinds of credentials: the last part of each type's URL. */
export const CREDENTIAL_KINDS = ['email', 'phone'] as const;

/** One of `CREDENTIAL_KINDS`. */
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** The kind that a proven address of a channel gets. */
export const KIND_OF: Readonly<Record<ProvableChannel, CredentialKind>> = { email: 'email', sms: 'phone' };

/** The claims that the holder may show or not; `sub` is there by the passkey alone. */
export const HIDDEN_CLAIMS = {
  email: ['email', 'email_domain', 'sub'],
  phone: ['phone_number', 'sub'],
} as const satisfies Readonly<Record<CredentialKind, readonly string[]>>;

const SHOWN_CLAIMS = ['iss', 'vct', 'iat', 'exp', 'verified_at', 'cnf'];

const DISPLAY: Readonly<Record<CredentialKind, Readonly<Record<string, readonly [name: string, about: string]>>>> = {
  email: {
    en: ['Proven email address', 'This address was shown by a code or a passkey, by who holds this key.'],
    de: [
      'Nachgewiesene E-Mail-Adresse',
      'Wer diesen Schlüssel hat, hat diese Adresse durch Code oder Passkey gezeigt.',
    ],
    es: ['Dirección de correo comprobada', 'Quien tiene esta clave mostró esta dirección con un código o una passkey.'],
    fr: [
      'Adresse e-mail prouvée',
      'La personne qui détient cette clé a montré cette adresse par un code ou une clé d’accès.',
    ],
  },
  phone: {
    en: ['Proven phone number', 'This number was shown by a code or a passkey, by who holds this key.'],
    de: ['Nachgewiesene Telefonnummer', 'Wer diesen Schlüssel hat, hat diese Nummer durch Code oder Passkey gezeigt.'],
    es: ['Número de teléfono comprobado', 'Quien tiene esta clave mostró este número con un código o una passkey.'],
    fr: [
      'Numéro de téléphone prouvé',
      'La personne qui détient cette clé a montré ce numéro par un code ou une clé d’accès.',
    ],
  },
};

/** The type of a kind's credentials (`vct`): the URL of its metadata. */
export function credentialTypeOf({ baseUrl }: { readonly baseUrl: string }, kind: CredentialKind): string {
  return `${baseUrl}/credentials/types/${kind}`;
}

/** The metadata of a type. */
export function typeMetadata(config: { readonly baseUrl: string }, kind: CredentialKind) {
  const [name = '', description = ''] = DISPLAY[kind]['en'] ?? [];
  return {
    vct: credentialTypeOf(config, kind),
    name,
    description,
    display: Object.entries(DISPLAY[kind]).map(([locale, [name, description]]) => ({ locale, name, description })),
    claims: [
      ...SHOWN_CLAIMS.map((claim) => ({ path: [claim], sd: 'never' as const })),
      ...HIDDEN_CLAIMS[kind].map((claim) => ({ path: [claim], sd: 'always' as const })),
    ],
  };
}
