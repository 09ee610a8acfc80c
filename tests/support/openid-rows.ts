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
    'login CSRF at the app': ['Auth.js, with state and nonce'],
  },
};
