/** The operations of credentials: their names and effects. */
export const CREDENTIAL_OPERATIONS = {
  'POST /api/credentials': [
    'issueCredential',
    'From pages of the vault alone. It names the DID (`sub`), which the holder may hide. The passkey signs for the holder’s key, `holder` for what the passkey signs.',
  ],
  'GET /credentials/types/email': [
    'getEmailCredentialType',
    'Metadata of the type (`vct`), for wallets and verifiers. 404 where the vault issues no credentials.',
  ],
  'GET /credentials/types/phone': [
    'getPhoneCredentialType',
    'Metadata of the type (`vct`), for wallets and verifiers. 404 where the vault issues no credentials.',
  ],
  'GET /.well-known/jwt-vc-issuer': [
    'getCredentialIssuer',
    'The keys of credentials alone. A key is here a day before it signs, until what it signed has ended. 404 where the vault issues none.',
  ],
} as const;
