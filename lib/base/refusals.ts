import type { ErrorWord } from './error-word.ts';

/** Words for a request that is in order and refused: 403 and 409. */
export const REFUSALS = {
  token_scope: {
    status: 403,
    cause: 'The token is valid, for another app or channel.',
    remedy: 'Ask for the channels that it names ([tokens](tokens.md)).',
  },
  attestation_invalid: {
    status: 403,
    hint: 'Send the whole attestation of POST /api/verify/check, unchanged. Handles need none.',
    cause: 'The attestation is missing, was changed, is of a code for another purpose, or another vault signed it.',
    remedy: 'Send the whole object that `POST /api/verify/check` answered, unchanged. Handles need none.',
  },
  attestation_mismatch: {
    status: 403,
    hint: 'Send the attestation of this identifier and channel.',
    cause: 'The attestation is of another address or channel than the request.',
    remedy:
      'Send the normal form that `POST /api/verify/check` answered: `identifier` and `channel` of the attestation.',
  },
  attestation_expired: {
    status: 403,
    hint: 'Check the code again with POST /api/verify/check, and send the new attestation at once.',
    cause: 'An attestation is good for five minutes after the code was checked.',
    remedy: 'Send a new code, check it, and use its attestation at once. `register` of the client does so by itself.',
  },
  attestation_used: {
    status: 403,
    hint: 'An attestation is for one use: check a new code with POST /api/verify/check.',
    cause:
      'An attestation makes one registration, one recovery, one withdrawal or second address, or one code that is exchanged.',
    remedy: 'Check a new code. A retry of the same request, unchanged, is answered as the first one was.',
  },
  proof_invalid: {
    status: 403,
    cause: 'The passkey’s signature does not fit: `reason` says what, and `hint` what to do.',
    remedy: 'See [what the vault checks](passkey-proof.md#what-the-vault-checks). The client makes proofs that fit.',
  },
  did_not_yours: {
    status: 403,
    cause: 'The vault registers only the DID that names the account itself.',
    remedy:
      'Use `did:pkh:eip155:<chainId>:<account>` with the account of the key ([which DID](passkey-proof.md#which-did-to-use)).',
  },
  method_refused: {
    status: 403,
    cause: 'The method is not one that the vault passes on to its bundler.',
    remedy:
      'Methods of ERC-4337 and ERC-7677 are passed on ([the bundler](http.md#the-bundler)). Ask a node of your own for others.',
  },
  sponsorship_refused: {
    status: 403,
    cause:
      'The operation is not one that is sponsored: another kind of account, another call, or more gas or a higher price than it needs.',
    remedy:
      '`reason` names the function and the contract, or the bound. Operator: `SPONSOR_CALLS` adds calls, and a chain that is dearer than Base needs a higher `SPONSOR_MAX_FEE`.',
  },
  sender_not_served: {
    status: 403,
    cause: 'The bundler of this vault takes user operations of its own accounts alone (`BUNDLER_SENDERS=own`).',
    remedy: 'Send it to a bundler of your own. Operator: `BUNDLER_SENDERS=any` takes those of everybody.',
  },
  path_not_allowed: {
    status: 403,
    cause: 'The index of the chain answers a few questions, and no other paths or parameters.',
    remedy: 'See [the index of the chain](http.md#the-index-of-the-chain).',
  },
  metrics_forbidden: {
    status: 403,
    hint: 'Send METRICS_TOKEN as a bearer token, or ask from a network of METRICS_ALLOW.',
    cause: '`/metrics` is for this machine by default, and never for pages of other sites.',
    remedy: 'Send `METRICS_TOKEN` as a bearer token, or have the operator name your network in `METRICS_ALLOW`.',
  },
  origin_not_allowed: {
    status: 403,
    hint: 'The operator of the vault lists the origins that may write in ALLOWED_ORIGINS.',
    cause: 'The page’s origin is not in `ALLOWED_ORIGINS`.',
    remedy: 'Operator: add it as browsers send it, such as `https://app.example.com`, without a slash at the end.',
  },
  pass_invalid: {
    status: 403,
    hint: 'The pass is for another identifier, or has ended: send without it to get a new one.',
    cause: 'The pass is of another address, or older than 24 hours.',
    remedy: 'Send without it: the mail that follows has a new one.',
  },
  registration_closed: {
    status: 403,
    hint: 'This vault registers nobody new (REGISTRATION): sign in with your passkey if you are registered.',
    cause: '`REGISTRATION` is `closed`, and the address is not registered.',
    remedy: 'Sign in with a passkey. Operator: `REGISTRATION=open`, or `invite` and `vault invites create`.',
  },
  invite_required: {
    status: 403,
    hint: 'This vault registers by invitation: send the token of an invite as invite.',
    cause: '`REGISTRATION` is `invite`, the address is not registered, and the request brought no invite.',
    remedy: 'Send its token as `invite` with the code, the session and the registration ([admission](admission.md)).',
  },
  invite_invalid: {
    status: 403,
    hint: 'The invite is unknown, used up, expired, or for another address or app: ask for a new one.',
    cause:
      'The invite is unknown, used up, expired or revoked, or for another address or app. The vault does not say which.',
    remedy: 'Ask who invited you for a new one. Operator: `vault invites list`.',
  },
  mail_domain_refused: {
    status: 403,
    hint: 'This vault registers no addresses of this mail domain: use another address.',
    cause: 'The address is not registered, and its mail domain is refused, or not among those that are allowed.',
    remedy:
      'Use an address of another domain. Operator: `ALLOWED_MAIL_DOMAINS`, `REFUSED_MAIL_DOMAINS_FILE` ([admission](admission.md)).',
  },
  recovery_channel_refused: {
    status: 403,
    hint: 'Only an email address recovers an account, never a text message.',
    cause: 'A text message does not recover an account: numbers change hands and can be taken over.',
    remedy: 'Use an email address that the owners named.',
  },
  recovery_refused: {
    status: 403,
    hint: 'The owners of this account have not named this vault and this address for its recovery.',
    cause: 'The account does not name this vault and this address for its recovery, or the chain refused the proposal.',
    remedy: 'Try another address. Recovery is set up at `/account` while a passkey is there ([recovery](recovery.md)).',
  },
  veto_invalid: {
    status: 403,
    hint: 'The account refuses this signature: one of its keys must sign the pending recovery.',
    cause: 'The account refuses the signature that should stop a recovery.',
    remedy:
      'Sign with one of the keys that the account has now, over the recovery that is pending; `/account` does so.',
  },
  operator_role: {
    status: 403,
    hint: 'The role of this operator does not allow it: ask for another token, or use the operator secret.',
    cause: 'A viewer sees states and masked rows; operators are appointed by the operator secret or a command.',
    remedy: '`vault operators add NAME --role operator` makes a token that may; the secret may all.',
  },
  operator_exists: {
    status: 409,
    hint: 'An operator of this name is there: revoke its token first, or choose another name.',
    cause: 'An operator of this name has a token that is still good.',
    remedy: '`vault operators revoke NAME` ends it. A name whose token has ended is free.',
  },
  identifier_reserved: {
    status: 409,
    cause:
      'The handle, or the part before the @, is one that could pass for the service: `admin`, `support` and their like, its own name, that of an app, or what looks like one (`vauit`).',
    remedy: 'Choose another one. Operator: `RESERVED_IDENTIFIERS` adds more, `RESERVED_DOMAINS` says at which domains.',
  },
  identifier_taken: {
    status: 409,
    cause: 'Another DID holds the address, another session has it, or the handle leads elsewhere on-chain.',
    remedy:
      'Of an address: prove it by a code and send a `proof`; it moves when that registration is final, or ADDRESS_MOVE_HOURS later if its holder has a passkey. After `retry_after` seconds, where the answer has that. Of a handle: choose another.',
  },
  no_challenge: {
    status: 409,
    cause: 'No other DID has claimed the address, or its claim has ended.',
    remedy: 'Nothing is to be let go: look the passkey up with its key, which says what is claimed.',
  },
  registration_pending: {
    status: 409,
    hint: 'The chain has not confirmed the registration yet: try again after Retry-After.',
    cause:
      'The chain has not confirmed the registration. An app gets no code for somebody whose registration may fail.',
    remedy: 'Try again after `Retry-After`; the page waits by itself.',
  },
  did_taken: {
    status: 409,
    cause: 'The registry has this DID for another account.',
    remedy: 'Use the DID of the account. If it is that, look it up: somebody registered its hash as a label.',
  },
  join_taken: {
    status: 409,
    hint: 'This link was already used: create a new one, and show it to nobody else.',
    cause: 'A key was left under this link already, or it is somebody else’s.',
    remedy: 'Show a new QR code, and let nobody else scan it.',
  },
  credential_already_registered: {
    status: 409,
    cause: 'The passkey, or the account, leads to another DID already.',
    remedy: 'Send a `proof` by the passkey; sign in with it instead of registering; or look the credential up.',
  },
  recovery_pending: {
    status: 409,
    hint: 'Another key is proposed for this account: stop that recovery first.',
    cause: 'Another key is proposed for this account.',
    remedy: 'Its owners can stop that at `/account`; or wait until it is over.',
  },
  recovery_barred: {
    status: 409,
    hint: 'Two recoveries of this account were stopped: no new one is proposed for 30 days.',
    cause: 'The owners stopped two recoveries of this account.',
    remedy: 'No new one is proposed for 30 days; `retry_after` says when the next one can be.',
  },
  key_is_owner: {
    status: 409,
    hint: 'The passkey is a key of this account already: sign in with it.',
    cause: 'The passkey that is proposed is a key of the account already.',
    remedy: 'Sign in with it: nothing has to be recovered.',
  },
  idempotency_key_in_use: {
    status: 409,
    cause: 'The first request with this `Idempotency-Key` is still running.',
    remedy: 'Send the same request again after `Retry-After`: it gets the answer of the first one.',
  },
} as const satisfies Readonly<Record<string, ErrorWord>>;
