// The words of requests that are refused: 400 to 422.
import type { Troubles } from './trouble.ts';

/** Why each is refused, and what to do. */
export const REFUSALS = {
  attestation_expired: {
    cause: 'An attestation is good for five minutes after the code was checked.',
    remedy: 'Send a new code, check it, and use its attestation at once. `register` of the client does so by itself.',
  },
  attestation_invalid: {
    cause: 'The attestation is missing, was changed, or another vault signed it.',
    remedy: 'Send the whole object that `POST /api/verify/check` answered, unchanged. Handles need none.',
  },
  attestation_mismatch: {
    cause: 'The attestation is of another address or channel than the request.',
    remedy:
      'Send the normal form that `POST /api/verify/check` answered: `identifier` and `channel` of the attestation.',
  },
  attestation_used: {
    cause: 'An attestation makes one registration, one recovery or one code that is exchanged.',
    remedy: 'Check a new code. A retry of the same request, unchanged, is answered as the first one was.',
  },
  bad_request: {
    cause: '`error` is a sentence that names the field: missing, of another form, or not known.',
    remedy:
      'Compare with the operation in [http.md](http.md). `hint` says what is expected. A number needs `+` and country.',
  },
  credential_already_registered: {
    cause: 'The passkey, or the account, leads to another DID already.',
    remedy: 'Send a `proof` by the passkey; sign in with it instead of registering; or look the credential up.',
  },
  did_not_yours: {
    cause: 'The vault registers only the DID that names the account itself.',
    remedy:
      'Use `did:pkh:eip155:<chainId>:<account>` with the account of the key ([which DID](passkey-proof.md#which-did-to-use)).',
  },
  did_taken: {
    cause: 'The registry has this DID for another account.',
    remedy: 'Use the DID of the account. If it is that, look it up: somebody registered its hash as a label.',
  },
  idempotency_key_in_use: {
    cause: 'The first request with this `Idempotency-Key` is still running.',
    remedy: 'Send the same request again after `Retry-After`: it gets the answer of the first one.',
  },
  idempotency_key_reused: {
    cause: 'This `Idempotency-Key` came with another body before.',
    remedy: 'A new key for each new request, the same key for a retry alone.',
  },
  identifier_reserved: {
    cause:
      'The handle, or the part before the @, is one that could pass for the service: `admin`, `support` and their like.',
    remedy: 'Choose another one. Operator: `RESERVED_IDENTIFIERS` adds more, `RESERVED_DOMAINS` says at which domains.',
  },
  identifier_taken: {
    cause: 'Another DID holds the address, another session has it, or the handle leads elsewhere on-chain.',
    remedy:
      'Of an address: prove it by a code and send a `proof`; it moves when that registration is final. Of a handle: choose another.',
  },
  invalid_grant: {
    cause: 'The code is unknown, used, older than 60 seconds, or of another app, URI or verifier: `reason` says which.',
    remedy:
      'Send the person to `/register` again. Keep the verifier where the person comes back ([register.md](register.md)).',
  },
  invalid_params: {
    cause: 'Parameters of a call to the bundler have another form; the message names them.',
    remedy: 'An array, with quantities as 0x-hex ([the bundler](http.md#the-bundler)).',
  },
  invalid_request: {
    cause: 'The body of a call to the bundler is no JSON-RPC request, or a batch of none or more than 10.',
    remedy: 'Send `{ "jsonrpc": "2.0", "id": 1, "method": …, "params": […] }`. Notifications are not taken.',
  },
  invite_invalid: {
    cause:
      'The invite is unknown, used up, expired or revoked, or for another address or app. The vault does not say which.',
    remedy: 'Ask who invited you for a new one. Operator: `vault invites list`.',
  },
  invite_required: {
    cause: '`REGISTRATION` is `invite`, the address is not registered, and the request brought no invite.',
    remedy: 'Send its token as `invite` with the code, the session and the registration ([admission](admission.md)).',
  },
  join_taken: {
    cause: 'A key was left under this link already, or it is somebody else’s.',
    remedy: 'Show a new QR code, and let nobody else scan it.',
  },
  key_is_owner: {
    cause: 'The passkey that is proposed is a key of the account already.',
    remedy: 'Sign in with it: nothing has to be recovered.',
  },
  mail_domain_refused: {
    cause: 'The address is not registered, and its mail domain is refused, or not among those that are allowed.',
    remedy:
      'Use an address of another domain. Operator: `ALLOWED_MAIL_DOMAINS`, `REFUSED_MAIL_DOMAINS_FILE` ([admission](admission.md)).',
  },
  method_not_allowed: {
    cause: 'The path exists, and takes another method.',
    remedy: '`Allow` of the response names the methods.',
  },
  method_refused: {
    cause: 'The method is not one that the vault passes on to its bundler.',
    remedy:
      'Methods of ERC-4337 and ERC-7677 are passed on ([the bundler](http.md#the-bundler)). Ask a node of your own for others.',
  },
  metrics_forbidden: {
    cause: '`/metrics` is for this machine by default, and never for pages of other sites.',
    remedy: 'Send `METRICS_TOKEN` as a bearer token, or have the operator name your network in `METRICS_ALLOW`.',
  },
  misdirected_request: {
    cause: 'Console and metrics answer under the vault’s own hosts alone.',
    remedy:
      'Use the host of `BASE_URL` or an IP address. Operator: add the host to `ALLOWED_HOSTS`; with `ADMIN_PORT` use that port.',
  },
  not_found: {
    cause: 'There is no such path, or nothing is known by this id. What failed is not found either.',
    remedy: 'Compare the path with [http.md](http.md). A look-up by credential needs the exact base64url id.',
  },
  operator_unauthorized: {
    cause: 'The operator’s secret is missing or wrong; at `/api/client` the token of `vault doctor`.',
    remedy:
      'It is in `operator.secret` of `DATA_DIR`, or what `OPERATOR_SECRET` says. After ten wrong ones in a minute the next ones are 429.',
  },
  origin_not_allowed: {
    cause: 'The page’s origin is not in `ALLOWED_ORIGINS`.',
    remedy: 'Operator: add it as browsers send it, such as `https://app.example.com`, without a slash at the end.',
  },
  parse_error: {
    cause: 'The body of a call to the bundler is not JSON.',
    remedy: 'Send JSON, in UTF-8.',
  },
  pass_invalid: {
    cause: 'The pass is of another address, or older than 24 hours.',
    remedy: 'Send without it: the mail that follows has a new one.',
  },
  path_not_allowed: {
    cause: 'The index of the chain answers a few questions, and no other paths or parameters.',
    remedy: 'See [the index of the chain](http.md#the-index-of-the-chain).',
  },
  payload_too_large: {
    cause: 'The body is larger than 64 KiB, or than the operation allows.',
    remedy: 'Send less. In a call to the bundler, split the batch.',
  },
  proof_invalid: {
    cause: 'The passkey’s signature does not fit: `reason` says what, and `hint` what to do.',
    remedy: 'See [what the vault checks](passkey-proof.md#what-the-vault-checks). The client makes proofs that fit.',
  },
  recovery_barred: {
    cause: 'The owners stopped two recoveries of this account.',
    remedy: 'For 30 days none is proposed; `retry_after` says when the next one can be.',
  },
  recovery_channel_refused: {
    cause: 'A text message does not recover an account: numbers change hands and can be taken over.',
    remedy: 'Use an email address that the owners named.',
  },
  recovery_pending: {
    cause: 'Another key is proposed for this account.',
    remedy: 'Its owners can stop that at `/account`; or wait until it is over.',
  },
  recovery_refused: {
    cause: 'The account does not name this vault and this address for its recovery, or the chain refused the proposal.',
    remedy: 'Try another address. Recovery is set up at `/account` while a passkey is there ([recovery](recovery.md)).',
  },
  redirect_not_allowed: {
    cause: 'App and URI are not in `REGISTER_REDIRECTS`, character by character.',
    remedy: 'Compare port, slash at the end and query. Operator: `REGISTER_REDIRECTS=<app>=<URI>`, the app in `APPS`.',
  },
  registration_closed: {
    cause: '`REGISTRATION` is `closed`, and the address is not registered.',
    remedy: 'Sign in with a passkey. Operator: `REGISTRATION=open`, or `invite` and `vault invites create`.',
  },
  request_timeout: {
    cause: 'The body did not arrive within 20 seconds.',
    remedy: 'Send the whole body at once. Nothing was done: send the request again.',
  },
  sponsorship_refused: {
    cause:
      'The operation is not one that is sponsored: another kind of account, another call, or more gas or a higher price than it needs.',
    remedy:
      '`reason` names the function and the contract, or the bound. Operator: `SPONSOR_CALLS` adds calls, and a chain that is dearer than Base needs a higher `SPONSOR_MAX_FEE`.',
  },
  token_expired: {
    cause: 'The token of the stream is over.',
    remedy: 'Get a new one. `events` of the client takes a function that does.',
  },
  token_invalid: {
    cause: 'The token is damaged, or nobody whom the vault trusts signed it.',
    remedy: '`vault token inspect` says what is wrong ([tokens](tokens.md)).',
  },
  token_missing: {
    cause: 'The stream needs a token.',
    remedy: 'In `Authorization: Bearer`, or as `token` in the query, for `EventSource`.',
  },
  token_revoked: {
    cause: 'The operator revoked the token, or one that it was delegated from.',
    remedy: 'Ask for a new one.',
  },
  token_scope: {
    cause: 'The token is valid, for another app or channel.',
    remedy: 'Ask for the channels that it names ([tokens](tokens.md)).',
  },
  unsupported_media_type: {
    cause: 'The body is not declared as JSON; curl sends forms by itself.',
    remedy: 'Send `Content-Type: application/json`.',
  },
  veto_invalid: {
    cause: 'The account refuses the signature that should stop a recovery.',
    remedy:
      'Sign with one of the keys that the account has now, over the recovery that is pending; `/account` does so.',
  },
} as const satisfies Troubles;
