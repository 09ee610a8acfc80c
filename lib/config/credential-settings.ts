import { count } from './limit-settings.ts';

/** The longest life of a credential, in seconds: nothing ends one before. */
export const CREDENTIAL_TTL_SECONDS_MAX = 604_800;

/** Credentials of proven addresses. */
export const CREDENTIAL_SETTINGS = {
  CREDENTIAL_TTL_SECONDS: count(
    'lifetime of a credential of a proven address, in seconds; 0 issues none',
    86_400,
    0,
    CREDENTIAL_TTL_SECONDS_MAX,
  ),
};

/** Whether credentials are issued. `BASE_URL` names their issuer: it is https or loopback always. */
export function offersCredentials({ credentialTtlSeconds }: { readonly credentialTtlSeconds: number }): boolean {
  return credentialTtlSeconds > 0;
}
