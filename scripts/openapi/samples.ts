// The values of examples, by the name of the field. `$NAME` is a variable: a value that only the reader's own world
// has.

interface Variable {
  readonly about: string;
  readonly sample: unknown;
}

const ACCOUNT = '0x7b2a1f5e4c3d2b1a09f8e7d6c5b4a39281706f5e';
const WORD = `0x${'5f'.repeat(32)}`;

/** The variables of the examples. */
export const VARIABLES: Readonly<Record<string, Variable>> = {
  CODE: { about: 'the code of the mail', sample: '834271' },
  PASS: { about: "the pass of the mail: its link's fragment", sample: 'q8Zc1vXyT0aK3mBn5pLr7w' },
  ATTESTATION: {
    about: 'what the check of a code answered, as JSON',
    sample: {
      identifier: 'ada@example.com',
      channel: 'email',
      verified_at: '2026-11-22T12:00:00.000Z',
      expires_at: '2026-11-22T12:05:00.000Z',
      registrar: 'did:web:vault.example',
      signature: WORD,
    },
  },
  DID: { about: 'the DID of the account', sample: `did:pkh:eip155:84532:${ACCOUNT}` },
  CREDENTIAL_ID: { about: 'the id of the passkey, base64url', sample: 'AAECAwQFBgcICQoLDA0ODw' },
  PUB_KEY_X: { about: 'the public key of the passkey', sample: WORD },
  PUB_KEY_Y: { about: 'the public key of the passkey', sample: WORD.replaceAll('5f', 'a3') },
  PROOF: {
    about: 'an [assertion](passkey-proof.md) by the passkey, as JSON',
    sample: { authenticatorData: 'SZYN5Y…', clientDataJSON: 'eyJ0eXBl…', signature: 'MEUCIQ…' },
  },
  NONCE: { about: 'a nonce of `POST /authorize/code`', sample: 'aSPwCdyjPEBvHlLoBnyp5fuWvJQ5y4oSIdw7oGJxM0ZpuTb3' },
  HOLDER: { about: 'the [proof of a key](#credentials), a JWT', sample: 'eyJhbGci…' },
  PROOF_EXPIRES_AT: { about: 'the end of the proof, in seconds since 1970', sample: 1795348800 },
  ACCOUNT: { about: 'the account of the passkey', sample: ACCOUNT },
  TX_HASH: { about: 'a transaction', sample: WORD.replaceAll('5f', '9c') },
  USER_OP_HASH: { about: 'the hash of the payment', sample: WORD.replaceAll('5f', '42') },
  ALIAS_HASH: { about: 'the hash of a handle', sample: WORD.replaceAll('5f', '17') },
  DID_HASH: { about: 'the hash of a DID', sample: WORD.replaceAll('5f', '28') },
  JOIN: { about: 'what both devices share, digested: 32 hex digits', sample: '9f86d081884c7d659a2feaa0c55ad015' },
  SIGNATURE: { about: "an owner's signature of the veto", sample: `0x${'1b'.repeat(65)}` },
  ID: { about: 'an `id` of a list', sample: 7 },
  CID: { about: 'the `cid` of a token', sample: 'bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku' },
  CHAIN_ID: { about: 'the number of the chain', sample: '84532' },
  USDC: { about: 'the address of a token', sample: ACCOUNT },
  OPERATOR_SECRET: { about: "the operator's secret", sample: '' },
  METRICS_TOKEN: { about: 'the setting of that name', sample: '' },
  DOCTOR_TOKEN: { about: 'what `vault doctor` makes of `VAULT_SECRET`', sample: '' },
  TOKEN: { about: 'a token of the event stream', sample: '' },
  ACCESS_TOKEN: { about: 'the `access_token` of `POST /token`', sample: '' },
  CLIENT_SECRET: {
    about: 'the secret of the app, by `vault clients secret`',
    sample: 'Zq3kY0vH8rT5mXw2LbNc7uJd1sPfAe9GoKiQyV4xRhM',
  },
  AUTHORIZATION_CODE: {
    about: 'the `code` that came back to the app',
    sample: 'x7Jr1cQZ0dEoXl2bWq9vYtK4mNfS8uHgAa3PiR5LyTe',
  },
};

/** The query of an app's link, with the vector of RFC 7636, appendix B. */
const LINK = String(
  new URLSearchParams({
    client_id: 'tea',
    redirect_uri: 'https://tea.example/back',
    response_type: 'code',
    scope: 'openid email',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  }),
);

/** A sample for each field that must be there, by its name. A row's `example` says it where the name has another. */
export const SAMPLES: Readonly<Record<string, unknown>> = {
  identifier: 'ada@example.com',
  channel: 'email',
  alias: 'ada',
  code: '$CODE',
  pass: '$PASS',
  attestation: '$ATTESTATION',
  did: '$DID',
  credentialId: '$CREDENTIAL_ID',
  pubKeyX: '$PUB_KEY_X',
  pubKeyY: '$PUB_KEY_Y',
  proof: '$PROOF',
  holder: '$HOLDER',
  smartAccount: '$ACCOUNT',
  account: '$ACCOUNT',
  address: '$ACCOUNT',
  txHash: '$TX_HASH',
  userOpHash: '$USER_OP_HASH',
  nonce: '0x0',
  signature: '$SIGNATURE',
  label: `0x${'00'.repeat(32)}`,
  id: '$ID',
  cid: '$CID',
  token: 'ETH',
  chainId: '$CHAIN_ID',
  origin: 'https://shop.example',
  to: ACCOUNT,
  amount: '1000000000000000',
  app: 'default',
  kind: 'registrations-per-ip',
  client_id: 'tea',
  redirect_uri: 'https://tea.example/back',
  response_type: 'code',
  scope: 'openid email',
  grant_type: 'authorization_code',
  request: LINK,
  code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
};
