import type { Config } from '../config/config.ts';
import { AUTH_METHODS } from './authenticate.ts';
import { CLAIM_NAMES } from './claims.ts';
import { ASSERTION_ALGS } from './client-assertion.ts';
import { ACR, SIGNING_ALG } from './id-token.ts';
import { PROMPTS } from './judge.ts';
import { SCOPES } from './scopes.ts';

/** The claims of every ID token. */
const TOKEN_CLAIMS = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'at_hash'];

type ServerConfig = Pick<Config, 'baseUrl' | 'clientMetadataHosts'>;

/** The metadata of the authorization server (RFC 8414 section 2, RFC 9207). It lists all that is supported. */
export function serverMetadata({ baseUrl: issuer, clientMetadataHosts }: ServerConfig, languages: readonly string[]) {
  const takesDocuments = clientMetadataHosts.length > 0;
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: takesDocuments ? [...AUTH_METHODS, 'private_key_jwt'] : AUTH_METHODS,
    ...(takesDocuments
      ? {
          token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
          client_id_metadata_document_supported: true,
        }
      : {}),
    code_challenge_methods_supported: ['S256'],
    ui_locales_supported: languages,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/openapi.json`,
  };
}

/** The same, with the members of OpenID Connect alone (OpenID Connect Discovery 1.0 section 3). */
export function discoveryDocument(config: ServerConfig, languages: readonly string[]) {
  return {
    ...serverMetadata(config, languages),
    userinfo_endpoint: `${config.baseUrl}/userinfo`,
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: [SIGNING_ALG],
    prompt_values_supported: PROMPTS,
    acr_values_supported: [ACR],
    claims_supported: [...TOKEN_CLAIMS, ...SCOPES.flatMap((scope) => CLAIM_NAMES[scope])],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    // Absent means true.
    request_uri_parameter_supported: false,
  };
}
