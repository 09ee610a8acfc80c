// A person's claims for an app: only facts that are proven now.
import type { PickedAddresses } from '../authorization-codes/access-token.ts';
import type { ProvenIdentity } from '../registration/proven-identity.ts';
import type { Scope } from './scopes.ts';

/** Claims by name. */
export type Claims = Readonly<Record<string, unknown>>;

/** The claims that there may be, those of `sub` and of the token itself left out (OpenID Connect Core section 5.1). */
export const CLAIM_NAMES = {
  openid: [],
  email: ['email', 'email_verified', 'email_verified_at'],
  phone: ['phone_number', 'phone_number_verified', 'phone_number_verified_at'],
  profile: ['preferred_username'],
  did: ['did', 'account', 'status', 'final', 'proofs'],
} as const satisfies Record<Scope, readonly string[]>;

/** The claims of scopes. A claim that the person does not hold, or does not give, is absent, never empty. */
export function claimsOf(scopes: readonly Scope[], identity: ProvenIdentity, picked: PickedAddresses): Claims {
  const claims: Record<string, unknown> = {};
  for (const scope of scopes) Object.assign(claims, OF_SCOPE[scope](identity, picked));
  return claims;
}

const OF_SCOPE: Readonly<Record<Scope, (identity: ProvenIdentity, picked: PickedAddresses) => Claims>> = {
  openid: () => ({}),
  email: (identity, { email }) => {
    const held = addressOf(identity, 'email', email);
    return held
      ? { email: held.identifier, email_verified: true, email_verified_at: secondsOf(held.registeredAt) }
      : {};
  },
  phone: (identity, { sms }) => {
    const held = addressOf(identity, 'sms', sms);
    return held
      ? {
          phone_number: held.identifier,
          phone_number_verified: true,
          phone_number_verified_at: secondsOf(held.registeredAt),
        }
      : {};
  },
  profile: (identity) => {
    const held = addressOf(identity, 'handle', undefined);
    return held ? { preferred_username: held.identifier } : {};
  },
  did: ({ did, smartAccount, status, final, proofs }) => ({ did, account: smartAccount, status, final, proofs }),
};

/** The address of a channel that the person picked, if it is still held; the oldest where nothing was picked. */
function addressOf({ identifiers }: ProvenIdentity, channel: string, picked: string | null | undefined) {
  const held = identifiers.filter((one) => one.channel === channel);
  return picked === undefined ? held[0] : held.find(({ identifier }) => identifier === picked);
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}
