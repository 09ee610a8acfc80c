type Rows = Readonly<Record<string, readonly string[]>>;

/** What the tests of each row of the chapter on OpenID Connect are named, by heading and by the row's first cell. */
export const OPENID_TESTS: Readonly<Record<string, Rows>> = {
  '## 3.': {
    'any parameter twice': ['any parameter twice', 'state that is there twice is not given back'],
    // A row of the test with its error: the words alone stand in many places.
    'request, request_uri, registration': [
      "request', 'request_not_supported",
      "request_uri', 'request_uri_not_supported",
      "registration', 'registration_not_supported",
    ],
    'response_type absent / not code': ['response_type absent', 'response_type not code'],
    'response_mode other than query': ['response_mode other than query'],
    'scope without openid': ['scope without openid'],
    'no code_challenge where demanded; not 43 characters; method absent or not S256; method alone': [
      'no code_challenge where demanded',
      'code_challenge not 43 characters',
      'method absent',
      'method plain',
      'method alone',
    ],
    'prompt unknown, or none with others; max_age no integer': [
      'prompt unknown',
      'prompt none with others',
      'max_age no integer',
    ],
    'prompt=none': ['prompt=none'],
    'id_token_hint not ours, of another client, badly signed (an expired one is good)': [
      '303 invalid_request: an id_token_hint that is forged, unsigned, another app’s or no token',
    ],
    'the person cancels': ['access_denied: the person cancels'],
    'somebody else than id_token_hint names signs in': ['login_required: somebody else than id_token_hint names'],
  },
  '## 5.': {
    '400 invalid_request': ['no form', 'grant_type missing', 'a field twice', 'two authentications', 'two client ids'],
    '401 invalid_client + WWW-Authenticate: Basic': [
      'unknown client',
      'secret wrong',
      'secret missing',
      'secret sent by a public client',
    ],
    '400 unsupported_grant_type': ['400 unsupported_grant_type'],
    '400 invalid_grant, reason': [
      '400 invalid_grant: code, client, redirect_uri, verifier',
      '400 invalid_grant verifier',
      '400 invalid_grant used',
      '400 invalid_grant expired',
      '400 invalid_grant registration',
    ],
  },
  '## 11.': {
    'mix-up of providers': ['mix-up of providers'],
    'code injection, stolen code': ['a stolen code'],
    'PKCE downgrade: challenge taken out, plain, verifier without challenge': ['PKCE downgrade'],
    'marked clients without PKCE': ['says which sign people in, optional PKCE'],
    'open redirect, also by errors': ['open redirect'],
    'parameters twice, line breaks': ['parameters twice, line breaks'],
    "forged, unsigned, HS256, another app's id_token_hint": [
      '303 invalid_request: an id_token_hint that is forged, unsigned, another app’s or no token',
    ],
    'silent probing by prompt=none': ['silent probing'],
    'joining people across apps': ['joining people across apps'],
    'homograph app names': ['names all that the app gets'],
    "consent phishing by a real app's link": ['consent phishing'],
    'an address changes hands; a phished code': ['an address changes hands'],
    'stolen passkey': ['403 proof_invalid account: not yet there, removed again', '502 rpc_error nodes_disagree'],
    'stolen client secret': ['a stolen client secret'],
    'stolen signing key': ['a stolen signing key'],
    'clickjacking, referrer, caches': ['clickjacking, referrer, caches'],
    'hostile opener of the popup': ['a page of another origin that opens it hears nothing'],
    'login CSRF at the app': [
      'Auth.js, with state and nonce',
      'takes no answer to a link that this browser did not open',
    ],
  },
};

/** What the tests of each rule of §12 are named, by words of the rule. */
export const AGENT_TESTS: Rows = {
  "the same document, less what is OpenID's alone": ['RFC 8414: clients of OAuth 2.0 alone find the same'],
  'names one of them, else `invalid_target`': [
    'resource that nobody has',
    '303 invalid_target: a server that the client may not ask for',
    '400 invalid_target: another server at /token',
  ],
  'it is part of the `request` that the passkey signs': ['it is part of the request that the passkey signs'],
  'The access token is then `at+jwt` (RFC 9068)': ['the access token is at+jwt'],
  'It is no good at `/userinfo`': ['it is no good at /userinfo'],
  'hosts whose https URLs are taken as `client_id`': ['%s is no client, and nothing is fetched'],
  'public addresses alone, checked at connection': ['a name that changes its address between check and connection'],
  'without redirects, 5 KiB, 5 s': [
    'behind a redirect',
    'of 5 KiB and more',
    'one that does not come within 5 seconds',
  ],
  'for 5 minutes to 24 hours, failures 1 minute': [
    'are kept as they say, for 5 minutes to 24 hours',
    'a failure is kept for a minute',
  ],
  '`client_id` in it is its own URL': ['of another client'],
  'of loopback ones any port (RFC 8252)': ['loopback redirect URIs are of any port'],
  '`none`, or `private_key_jwt` (ES256, RS256; `jti` used once)': [
    'gets a token of the server',
    'ES256',
    'RS256',
    '401 invalid_client: jti is used once',
  ],
  '`jwks` or a `jwks_uri` on the same host': ['keys at jwks_uri', 'with keys elsewhere'],
  'PKCE always': ['PKCE always'],
  "The page names the host, never the document's name alone, shows the resource, and asks each time": [
    'the page knows whose server it is, and shows no name of the document',
    'a client with a document is named by its host',
    'each time asks the person',
  ],
  '`@modelcontextprotocol/sdk` with such a document': ['@modelcontextprotocol/sdk, unmodified'],
  '`@modelcontextprotocol/conformance authorization` (3 of 3)': [
    '@modelcontextprotocol/conformance authorization: 3 of 3',
  ],
  'an MCP server of 40 lines in `examples/apps/`': ['reaches the server of examples/apps/mcp.ts'],
};
