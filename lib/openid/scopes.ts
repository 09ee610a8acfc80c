/** The scopes that give claims (OpenID Connect Core section 5.4); `openid` gives `sub` alone. */
export const SCOPES = ['openid', 'email', 'phone', 'profile', 'did'] as const;

/** A supported scope. */
export type Scope = (typeof SCOPES)[number];

/** Those of a text that there are, in the order of `SCOPES`; unknown ones are left out. */
export function knownScopes(text: string): readonly Scope[] {
  const asked = text.split(' ');
  return SCOPES.filter((scope) => asked.includes(scope));
}
