import type { ErrorWord } from './error-word.ts';

/** Words for limits that are reached and for failures: 429 and 5xx. */
export const FAILURES = {
  rate_limited: {
    status: 429,
    cause: 'A limit is used up; `limit` names it, `retry_after` says when a slot is free.',
    remedy:
      'Wait. Operator: [all limits](operating.md#limits), `vault limits show`, `vault limits clear`; if all people seem to share one address, see [proxies](proxies.md).',
  },
  ip_limit_reached: {
    status: 429,
    cause: '`MAX_REGISTRATIONS_PER_IP` (3) registrations or sessions of this network address are live.',
    remedy:
      'Registrations with an attestation and `txHash` are not limited. Operator: if all people seem to share one address, see [proxies](proxies.md).',
  },
  relay_limit_reached: {
    status: 429,
    cause: '`RELAY_DAILY_MAX` registrations were paid for today, or the share of this network.',
    remedy: 'Try again tomorrow, or register by a user operation of the account’s own. Operator: raise it.',
  },
  sponsor_limit_reached: {
    status: 429,
    cause:
      '`SPONSOR_DAILY_MAX` operations were sponsored, `SPONSOR_DAILY_WEI` is used up, or the share of this account or network.',
    remedy: 'The account can pay its fee itself, or wait: `retry_after`.',
  },
  recovery_limit_reached: {
    status: 429,
    cause: '`RECOVERIES_DAILY_MAX` recoveries were started today, or the share of this network.',
    remedy: 'Try again tomorrow. Operator: look at the console before you raise it.',
  },
  internal_error: {
    status: 500,
    hint: "The vault's log has the cause under the X-Request-Id of this response.",
    cause: 'A fault of the vault’s.',
    remedy:
      'The log has the cause under the `X-Request-Id` of the response. Please report it ([SECURITY.md](../SECURITY.md) if it harms anybody).',
  },
  email_send_failed: {
    status: 502,
    cause: 'The mail server or the mail provider refused the mail or did not answer.',
    remedy: 'Try again. Operator: `vault doctor` connects to it, and the log has its words.',
  },
  sms_send_failed: {
    status: 502,
    cause: 'The provider refused the message or did not answer.',
    remedy: 'Try again. Operator: `vault doctor` asks it, and the log has its words.',
  },
  sms_provider_error: {
    status: 502,
    cause: 'The provider that sends and checks codes failed.',
    remedy: 'Try again. Operator: `vault doctor` asks it, and the log has its words.',
  },
  rpc_error: {
    status: 502,
    cause:
      'The node of the chain failed, answered nonsense, or disagrees with the witness (`reason: "nodes_disagree"`).',
    remedy:
      'Try again; of `POST /api/dids` nothing was sent. Operator: `vault doctor` asks each node for its chain and its newest block.',
  },
  bundler_error: {
    status: 502,
    cause: 'The bundler of `BUNDLER_URL` gave no usable response.',
    remedy:
      'It may have the operation all the same: look it up by its hash before you send again. Operator: `vault doctor`.',
  },
  indexer_error: {
    status: 502,
    cause: 'The indexer of `INDEXER_URL` failed or answered something else.',
    remedy:
      'Try again, or ask the contracts. Operator: leave `INDEXER_URL` out, and the vault follows the chain itself.',
  },
  identifier_busy: {
    status: 503,
    hint: 'Another request about this identifier is under way: try again after Retry-After.',
    cause: 'Another request about the same address is running, or one of your network waits for it already.',
    remedy: 'Send it again after `Retry-After`.',
  },
  relay_unfunded: {
    status: 503,
    cause: 'The registrar has too little ether to pay for registrations.',
    remedy: 'Operator: send it some; `vault doctor` shows address and balance, `RELAY_MIN_BALANCE` is the bound.',
  },
  registry_missing: {
    status: 503,
    hint: 'DID_REGISTRY_ADDRESS names an address without code on this chain: nothing was registered. Try again later.',
    cause: '`DID_REGISTRY_ADDRESS` names an address without code on this chain.',
    remedy:
      'Nothing was registered. Operator: `vault doctor`, `CHAIN_ID` and `RPC_URL`; a development chain that began again needs `vault contracts deploy`.',
  },
  guardian_unfunded: {
    status: 503,
    hint: 'The guardian has no ether for the transaction: the operator of the vault must send it some.',
    cause: 'The account of `GUARDIAN_PRIVATE_KEY` has too little ether for the transaction.',
    remedy: 'Operator: send it some; `vault doctor` shows address and balance.',
  },
  recoveries_not_offered: {
    status: 503,
    hint: 'This vault is not a guardian (GUARDIAN_PRIVATE_KEY).',
    cause: 'The vault has no `GUARDIAN_PRIVATE_KEY`.',
    remedy: 'Operator: [recovery](recovery.md).',
  },
  bundler_not_configured: {
    status: 503,
    cause: 'The vault has no `BUNDLER_URL`.',
    remedy: 'Operator: set it. Without a bundler accounts can do nothing; the vault can still register DIDs itself.',
  },
  indexer_not_configured: {
    status: 503,
    hint: 'This vault does not follow the chain (FOLLOWER, INDEXER_URL): ask the contracts.',
    cause: 'The vault neither follows the chain nor has an `INDEXER_URL`.',
    remedy: 'Ask the contracts. Operator: set `DID_REGISTRY_ADDRESS` and `RPC_URL`.',
  },
  indexer_behind: {
    status: 503,
    hint: 'The vault is still reading the chain for the first time: try again later, or ask the contracts.',
    cause: 'The vault has not yet read the chain from the registry’s beginning.',
    remedy: 'Try again after `Retry-After`, or ask the contracts. `/readyz` shows how far it is.',
  },
  email_not_configured: {
    status: 503,
    hint: 'This vault sends no mail (EMAIL_PROVIDER is none).',
    cause: '`EMAIL_PROVIDER` is `none`.',
    remedy: 'Ask for a phone number instead. Operator: set a provider to offer mail.',
  },
  sms_not_configured: {
    status: 503,
    hint: 'This vault sends no SMS (SMS_PROVIDER is none).',
    cause: '`SMS_PROVIDER` is `none`.',
    remedy: 'Ask for an email address instead. Operator: set a provider to offer text messages.',
  },
  database_unavailable: {
    status: 503,
    hint: 'Try again in a few seconds: nothing was changed unless a later look-up shows it.',
    cause: 'The database is away, locked, or takes no writes, such as on a full disk.',
    remedy:
      'Try again after `Retry-After`. Operator: `/readyz`, the disk, `vault doctor`. Nothing was changed unless a look-up shows it. With `reason: "damaged"` trying again does not help: the operator must restore a backup.',
  },
  shutting_down: {
    status: 503,
    hint: 'The vault is restarting: try again in a few seconds.',
    cause: 'The vault is stopping or restarting.',
    remedy: 'Try again in a few seconds.',
  },
  bundler_timeout: {
    status: 504,
    cause: 'The bundler did not answer within 10 seconds, or 20 for a send or an estimate.',
    remedy: 'It may have the operation all the same: look it up by its hash before you send again.',
  },
  indexer_timeout: {
    status: 504,
    cause: 'The indexer of `INDEXER_URL` did not answer in time.',
    remedy: 'Try again, or ask the contracts.',
  },
} as const satisfies Readonly<Record<string, ErrorWord>>;
