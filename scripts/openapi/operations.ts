// The name of each operation in the description of the API, and its effect, in the words of docs/http.md.
import type { Route } from '../../routes/http/route.ts';
import { CREDENTIAL_OPERATIONS } from './credential-operations.ts';

type Named = readonly [id: string, about: string];

const WORDS = 'For that page of the vault alone; its form may change with the page.';
const ONE_PAGE = 'The newest first, page by page.';

/** The name and the meaning of an operation, by method and path. */
const OPERATIONS: Readonly<Record<string, Named>> = {
  'GET /api/status': [
    'getStatus',
    'Asks for nothing. `rpId` is the RP ID for new passkeys, `relays` whether the vault registers DIDs itself.',
  ],
  'GET /openapi.json': ['getOpenApi', 'Pages and files of the vault are not in it; docs/http.md lists them.'],
  'GET /api/client': [
    'getClient',
    'The address that limits count, and whether a proxy named it. For operators behind a proxy.',
  ],
  'GET /api/contracts': ['getContracts', 'Null stands for a contract that the vault does not use.'],
  'POST /api/sessions': [
    'openSession',
    'Holds the identifier for a day, or for good once a DID is recorded for it. Of a handle the chain decides.',
  ],
  'GET /api/sessions/status': ['getSessionStatus', 'The registrations of an address that its limit counts.'],
  'GET /api/sessions/check': [
    'checkIdentifier',
    'A handle is taken by a session, a registration or an alias on-chain; an address once a DID is recorded for it.',
  ],
  'POST /api/verify/send': [
    'sendCode',
    'Mails or texts six digits that live 90 seconds and allow 5 checks. `challenge` of the answer is this code alone: send it with the check. `bind: true` lets only checks with it count. `pass` is the fragment of the link in an earlier mail: such a send has limits of its own. `purpose` says what the code is for.',
  ],
  'POST /api/verify/check': [
    'checkCode',
    'The right code gives an attestation, good for 5 minutes and one use. A wrong one is 200 with `verified: false`. Send the `challenge` of the send: the check is then judged against that code, from anywhere. Without it only the client that asked for the code checks it. With `purpose: "credential"` and `holder`, the proof of a key, it gives a credential in place of the attestation.',
  ],
  'GET /api/verify/status': ['getVerification', 'Whether somebody proved the address by a code, and when last.'],
  'POST /api/dids': [
    'registerDid',
    'With `txHash` records a DID that the client has registered; without it the vault registers it on-chain, for the account of the key. `attestation` proves the address, `proof` is the signature of the passkey. 200 once the DID is in a block, 202 after 20 seconds: look it up until it is confirmed.',
  ],
  'POST /api/dids/release': [
    'releaseAddress',
    'The holder of an address, by a touch of its passkey, lets the DID that claims the address have it at once.',
  ],
  'GET /api/dids/lookup': [
    'lookUpDid',
    'Never shows the identifier. Send the key where you know it: a credential id alone can be claimed by a stranger, and the answer then says `ambiguous`. Only `proven: true` says that the passkey holds the DID.',
  ],
  ...CREDENTIAL_OPERATIONS,
  'GET /api/aliases/check': [
    'checkAlias',
    'Reserved names, and those that look like them, are not available. `aliasHash` names the alias in the registry.',
  ],
  'GET /api/accounts/predict': [
    'predictAccount',
    'The account of a P-256 key has this address before it exists. `kind` 2 takes several keys; 1 is the default.',
  ],
  'GET /api/accounts/state': [
    'getAccount',
    'Read from the chain at each request. Zeros and false where there is no account.',
  ],
  'GET /api/accounts/joins': [
    'readJoin',
    'The key that the other device has left; null until then. The mailbox closes after 10 minutes.',
  ],
  'POST /api/accounts/joins': [
    'openJoin',
    'The same request again changes nothing. Nothing here says that a key is good: the people compare a code on both screens.',
  ],
  'POST /api/accounts/joins/keys': ['leaveKey', 'The first key that is left there stays.'],
  'POST /api/recoveries/commitments': [
    'makeCommitment',
    'The commitment shows nothing of the account or the address to readers of the chain.',
  ],
  'POST /api/recoveries/accounts': [
    'listRecoverableAccounts',
    'Up to 10, as far as this vault knows them. The attestation is not spent.',
  ],
  'POST /api/recoveries': [
    'startRecovery',
    'The guardian proposes the key; the owners can veto it until the delay is over. Spends the attestation, which is of a code for `recovery`.',
  ],
  'GET /api/recoveries/status': ['getRecovery', 'The newest one, or null.'],
  'POST /api/recoveries/cancellations': [
    'cancelRecoveries',
    'For a person with the address and no key. Spends the attestation.',
  ],
  'POST /api/recoveries/vetoes': [
    'vetoRecovery',
    'The vault sends the veto and pays for it. `signature` is the argument of `vetoRecovery`.',
  ],
  'POST /api/recoveries/contacts': [
    'setRecoveryContact',
    'By a key of the account. Without `attestation` the contact is removed.',
  ],
  'GET /api/balance': ['getBalance', 'In the smallest unit, and `formatted` with the decimal point.'],
  'POST /api/bundler': [
    'callBundler',
    'ERC-4337 methods, and the sponsor of user operations. One call or a batch of up to 10.',
  ],
  'GET /api/indexer/aliases': ['getIndexedAlias', 'As far as the vault has read the registry.'],
  'GET /api/indexer/dids': ['getIndexedDid', 'As far as the vault has read the registry.'],
  'GET /api/indexer/accounts': ['getIndexedAccount', 'As far as the vault has read the factory.'],
  'GET /api/indexer/stats': ['getIndexStatistics', 'Counted up to the last block that was read.'],
  'GET /api/indexer/health': ['getIndexHealth', 'False while the vault is behind the chain, or does not follow it.'],
  'GET /words/pass.json': ['getPassWords', WORDS],
  'GET /words/authorize.json': ['getAuthorizeWords', WORDS],
  'GET /words/pay.json': ['getPayWords', WORDS],
  'GET /words/account.json': ['getAccountWords', WORDS],
  'GET /words/landing.json': ['getLandingWords', WORDS],
  'POST /pass': [
    'usePass',
    'The form of the page that a mail links to. Opening the link changes nothing: the button does.',
  ],
  'GET /pay/method-manifest.json': [
    'getPaymentMethodManifest',
    'The manifest that a browser reads behind the payment method identifier `/pay`.',
  ],
  'GET /pay/payment-method.json': ['getPaymentMethod', 'The same for readers of `default_applications`.'],
  'GET /pay/manifest.json': ['getPaymentApp', 'Name, icons and worker of the payment handler.'],
  'GET /pay/config': [
    'getPayConfig',
    'Chain, contracts and bounds of fees, for software that builds user operations as the pages do.',
  ],
  'GET /pay/token': ['getToken', 'The symbol of a token that is not listed is its own claim.'],
  'GET /pay/fees': ['getFees', 'Enough for six full blocks, or the price of the bundler where that is more.'],
  'GET /pay/outcome': [
    'getPaymentOutcome',
    'By the evidence of blocks alone: whether the nonce is spent, by which operation, and whether that moved the sum asked for. Ask again from `next`.',
  ],
  'GET /pay/verify': [
    'verifyPayment',
    'For the server of a shop: `to`, `token`, `amount` and `chainId` are of its own order, `since` is when it was made, `userOpHash`, `txHash` and `account` of the receipt. With `by`, for a transfer by authorization (EIP-3009), `account` is needed and `userOpHash` is not. Hand over when `status` is `paid` and `final` is true.',
  ],
  'POST /authorize/code': [
    'makeAuthorizationCode',
    'For the page of `/authorize`. With `fresh: true` a nonce for the passkey to sign; else the URL to which the browser goes with a code for the app of `request`, by a signature over it or by the attestation of a registration just made. Where the person has to choose an address, the choices come first.',
  ],
  'GET /authorize/config': ['getAuthorizeConfig', 'For the page of `/authorize`.'],
  'POST /token': [
    'exchangeForTokens',
    'A form (RFC 6749 section 4.1.3), with the secret by Basic or as `client_secret`, or a public client by `client_id` alone. Of `invalid_grant` the `reason` says what is wrong.',
  ],
  'GET /userinfo': ['getUserInfo', 'It omits addresses lost or erased since the sign-in.'],
  'POST /userinfo': ['postUserInfo', 'For libraries that post.'],
  'GET /jwks': ['getJwks', 'Keep them for an hour, and read them again for a `kid` that is not among them.'],
  'GET /.well-known/openid-configuration': ['getOpenIdConfiguration', 'It lists everything that is supported.'],
  'GET /.well-known/oauth-authorization-server': [
    'getServerMetadata',
    'For clients of OAuth 2.0 (RFC 8414), such as those of MCP: the same, without the members of OpenID alone.',
  ],
  'GET /.well-known/did.json': ['getDidDocument', 'The document of the did:web that signs attestations and tokens.'],
  'GET /1.0/identifiers/:did+': [
    'resolveDid',
    'DID Resolution 1.0, for DIDs that the chain decides and the vault’s own did:web. The path has the DID as it is, or percent-encoded once. Errors have the form of that standard.',
  ],
  'GET /.well-known/payment-method-manifest': ['findPaymentMethod', 'A payment method identifier, too.'],
  'GET /.well-known/webauthn': [
    'getRelatedOrigins',
    'The origins that browsers read for related origin requests of WebAuthn.',
  ],
  'GET /healthz': ['isAlive', 'For the supervisor of the process. Asks nothing else.'],
  'GET /readyz': ['isReady', 'For a load balancer. 503 while the database is away or the vault stops.'],
  'GET /v1/console/settings': ['listSettings', 'Each with its default. Of a URL that may hold a key only the origin.'],
  'GET /v1/console/apps': [
    'listApps',
    'Sign-ins and refusals are those of a day and of all processes. No secret, and nobody who signed in.',
  ],
  'GET /v1/console/refusals': ['listRefusals', 'Each with the meaning of its word, without the callers.'],
  'GET /v1/console/keys': ['listKeys', 'No private key, and no token: a token is named by its CID.'],
  'POST /v1/console/token': [
    'issueStreamToken',
    'A UCAN for the live stream of one app or, by `*`, of all, and of the channels that are named.',
  ],
  'POST /v1/console/revoke': [
    'revokeToken',
    'The token of this CID, or every token whose chain contains this delegation. Its streams end within a second.',
  ],
  'GET /v1/console/operator': ['getOperator', 'Name, role and end of the token that asks.'],
  'GET /v1/console/operators': ['listOperators', 'No token is shown: it was shown once, when it was made.'],
  'POST /v1/console/operators': ['addOperator', 'The answer holds the token, which is shown this once.'],
  'POST /v1/console/operators/revoke': ['revokeOperator', 'Those of one name, or with `all` those of everybody.'],
  'GET /v1/console/registrations': ['listRegistrations', ONE_PAGE],
  'GET /v1/console/registrations/detail': [
    'getRegistration',
    'With its call, session, codes and state on the chain, and why it failed.',
  ],
  'GET /v1/console/registrations/export': ['exportRegistrations', 'The same filters as the list.'],
  'POST /v1/console/registrations/undo': [
    'undoRegistration',
    'It loses identifier and credential, and the registration that it had displaced has them again. The chain keeps the DID.',
  ],
  'GET /v1/console/sessions': ['listSessions', ONE_PAGE],
  'GET /v1/console/sessions/export': ['exportSessions', 'The same filters as the list.'],
  'POST /v1/console/person/show': [
    'showPerson',
    'For a request by the person whose data it is. `after` of the answer asks for the next page.',
  ],
  'POST /v1/console/person/export': [
    'exportPerson',
    'The rows as they are in the database. `after` of the answer asks for the next page.',
  ],
  'POST /v1/console/person/erase': ['erasePerson', 'Cannot be undone. `dryRun` says what it would do.'],
  'GET /v1/console/recoveries': [
    'listRecoveries',
    'The newest first, at most 100; with `open=true` those that are open.',
  ],
  'POST /v1/console/recoveries/cancel': [
    'cancelRecoveriesOf',
    'The guardian withdraws the open recovery of the account.',
  ],
  'GET /v1/console/limits': ['listLimits', 'The 100 fullest buckets of each kind, or the bucket of `key`.'],
  'POST /v1/console/limits/clear': ['clearLimit', 'Nothing else changes: codes and sessions stay valid.'],
  'GET /v1/console/invites': ['listInvites', ONE_PAGE],
  'POST /v1/console/invites': ['makeInvite', 'The answer holds the token, which is shown this once.'],
  'POST /v1/console/invites/revoke': ['revokeInvite', 'It admits nobody from then on.'],
  'GET /v1/console/overview': ['getOverview', 'Since it started.'],
  'GET /v1/console/history': ['getHistory', 'By `range`.'],
  'GET /v1/console/messages': ['previewMessage', 'Nothing is sent.'],
  'GET /v1/console/doctor': [
    'runDoctor',
    'Each check has its finding and its remedy. An answer of the last 15 seconds is given again.',
  ],
  'POST /v1/console/doctor/send': ['sendTestMessage', 'To an address or number of your own.'],
  'GET /v1/console/events': [
    'streamEvents',
    'Server-sent events of an app or, by `*`, of all, from `last_event_id` on. A token of `POST /v1/console/token`, as a bearer or in the query.',
  ],
  'GET /metrics': ['getMetrics', 'Text 0.0.4, or OpenMetrics 1.0 by `Accept`.'],
  'GET /v1/console/webhooks': ['listWebhooks', ONE_PAGE],
  'POST /v1/console/webhooks/resend': ['resendWebhook', 'Only a dead one is sent again.'],
};

/** The routes that have a row. */
export const NAMED_OPERATIONS: readonly string[] = Object.keys(OPERATIONS);

/** The name of an operation; of one without a row made of method and path, such as `postApiVerifySend`. */
export function operationIdOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const made = [method.toLowerCase(), ...words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)].join('');
  return OPERATIONS[`${method} ${path}`]?.[0] ?? made;
}

/** The effect of an operation, in sentences. */
export function aboutOperation({ method, path, summary }: Pick<Route, 'method' | 'path' | 'summary'>): string {
  return [`${summary}.`, OPERATIONS[`${method} ${path}`]?.[1]].filter(Boolean).join(' ');
}
