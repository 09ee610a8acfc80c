import type { ErrorWord } from './error-word.ts';

/** Words for a request that is not in order: its form, its token or its size. */
export const REQUEST_ERRORS = {
  bad_request: {
    status: 400,
    cause: '`error` is a sentence that names the field: missing, of another form, or not known.',
    remedy:
      'Compare with the operation in [http.md](http.md). `hint` says what is expected. A number needs `+` and country.',
  },
  invalid_grant: {
    status: 400,
    cause: 'The code is unknown, used, older than 60 seconds, or of another app, URI or verifier: `reason` says which.',
    remedy: 'Send the person to sign in again. Keep the verifier where the person comes back ([openid.md](openid.md)).',
  },
  invalid_client: {
    status: 401,
    hint: 'The client is unknown, or its secret is missing, wrong, or one too many.',
    cause:
      'The client at `/token` is not in `CLIENTS`, or its secret does not fit; one without secrets must send none.',
    remedy: 'Compare `client_id`. Operator: `vault clients list`, and `vault clients secret` for a new secret.',
  },
  invalid_target: {
    status: 400,
    hint: 'resource must be the server that the request at /authorize named, or absent.',
    cause: '`resource` at `/token` is another server than the code is for, or `CLIENTS` does not have it any more.',
    remedy: 'Send the same `resource` to `/authorize` and `/token`: one of the client’s `resources` in `CLIENTS`.',
  },
  unsupported_grant_type: {
    status: 400,
    hint: 'grant_type must be authorization_code: there are no refresh tokens.',
    cause: '`/token` exchanges authorization codes alone.',
    remedy: 'Send `grant_type=authorization_code`. There are no refresh tokens: send the person to sign in again.',
  },
  invalid_token: {
    status: 401,
    hint: 'The access token is unknown, revoked or has expired: send the person to sign in again.',
    cause: 'The access token at `/userinfo` is unknown, has expired, or its code was exchanged twice.',
    remedy: 'Exchange a code once, and send the token as `Authorization: Bearer`. Send the person to sign in again.',
  },
  parse_error: {
    status: 400,
    cause: 'The body of a call to the bundler is not JSON.',
    remedy: 'Send JSON, in UTF-8.',
  },
  invalid_request: {
    status: 400,
    cause:
      'The body of a call to the bundler is not a JSON-RPC request, or is a batch of none or more than 10. At `/token` a field is missing or there twice, or the body is not a form.',
    remedy:
      'Send `{ "jsonrpc": "2.0", "id": 1, "method": …, "params": […] }`. Notifications are not taken. At `/token` send a form, each field once.',
  },
  invalid_params: {
    status: 400,
    cause: 'Parameters of a call to the bundler have another form; the message names them.',
    remedy: 'An array, with quantities as 0x-hex ([the bundler](http.md#the-bundler)).',
  },
  token_missing: {
    status: 401,
    cause: 'The stream needs a token.',
    remedy: 'In `Authorization: Bearer`, or as `token` in the query, for `EventSource`.',
  },
  token_invalid: {
    status: 401,
    cause: 'The token is damaged, or the vault does not trust its signer.',
    remedy: '`vault token inspect` says what is wrong ([tokens](tokens.md)).',
  },
  token_expired: {
    status: 401,
    cause: 'The token of the stream is over.',
    remedy: 'Get a new one. `events` of the client takes a function that does.',
  },
  token_revoked: {
    status: 401,
    cause: 'The operator revoked the token, or one that it was delegated from.',
    remedy: 'Ask for a new one.',
  },
  operator_unauthorized: {
    status: 401,
    cause:
      'The operator’s secret or token is missing or wrong; `reason` is `expired` or `revoked` of a token that was good. At `/api/client` it is the token of `vault doctor`.',
    remedy:
      'A token is of `vault operators add`. The secret is in `operator.secret` of `DATA_DIR`, or the value of `OPERATOR_SECRET`. After ten wrong ones in a minute the next ones are 429.',
  },
  not_found: {
    status: 404,
    cause: 'There is no such path, or nothing is known by this id. What failed is not found either.',
    remedy: 'Compare the path with [http.md](http.md). A look-up by credential needs the exact base64url id.',
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path exists, and takes another method.',
    remedy: '`Allow` of the response names the methods.',
  },
  request_timeout: {
    status: 408,
    cause: 'The body did not arrive within 20 seconds.',
    remedy: 'Send the whole body at once. Nothing was done: send the request again.',
  },
  payload_too_large: {
    status: 413,
    cause: 'The body is larger than 64 KiB, or than the operation allows.',
    remedy: 'Send less. In a call to the bundler, split the batch.',
  },
  unsupported_media_type: {
    status: 415,
    cause: 'The body is not declared as JSON; curl sends forms by itself.',
    remedy: 'Send `Content-Type: application/json`.',
  },
  misdirected_request: {
    status: 421,
    hint: 'Use the host of BASE_URL or an IP address, or add this host to ALLOWED_HOSTS.',
    cause: 'Console and metrics answer under the vault’s own hosts alone.',
    remedy:
      'Use the host of `BASE_URL` or an IP address. Operator: add the host to `ALLOWED_HOSTS`; with `ADMIN_PORT` use that port.',
  },
  idempotency_key_reused: {
    status: 422,
    hint: 'This key was used for another request: send a new one.',
    cause: 'This `Idempotency-Key` came with another body before.',
    remedy: 'A new key for each new request, the same key for a retry alone.',
  },
} as const satisfies Readonly<Record<string, ErrorWord>>;
