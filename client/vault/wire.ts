// Written by `bun scripts/docs.ts` from the rows of routes/: change it there. Types alone.

/** An account as the chain has it. */
export type AccountState = {
  readonly nonce: Quantity;
  readonly did: `0x${string}`;
  readonly isActive: boolean;
  readonly pubKeyX: Hash;
  readonly pubKeyY: Hash;
  readonly kind: 1 | 2 | null;
  readonly factory: Address | null;
  readonly keys:
    | readonly {
        readonly index: Count;
        readonly x: Hash;
        readonly y: `0x${string}`;
        readonly addedAt: Time | null;
        readonly label: string | null;
        readonly synced: boolean | null;
      }[]
    | null;
  readonly guardian: {
    readonly address: Address;
    readonly delaySeconds: Seconds;
    readonly commitment: Hash;
    readonly vetoes: Count;
    readonly barredUntil: Time | null;
  } | null;
  readonly recovery: {
    readonly id: Count;
    readonly x: Hash;
    readonly y: Hash;
    readonly readyAt: Time;
    readonly label: string | null;
  } | null;
};

/** An address's balance of a token. */
export type Balance = {
  readonly balance: string;
  readonly decimals: Count;
  readonly symbol: string;
  readonly formatted: string;
};

/** A mailbox, with the key that was left in it. */
export type Join = {
  readonly smartAccount: Address;
  readonly expiresAt: Time;
  readonly key: { readonly x: Hash; readonly y: Hash; readonly label: Hash } | null;
};

/** A mailbox for a key was opened. */
export type JoinOpened = { readonly id: string; readonly expiresAt: Time };

/** Where an account is, or would be. */
export type PredictedAccount = { readonly address: Address };

/** The person's choice before there is a code: which address the app gets, or none. */
export type AddressChoice = {
  readonly channels: readonly ('email' | 'sms')[];
  readonly addresses: readonly {
    readonly identifier: string;
    readonly channel: 'email' | 'sms';
    readonly moves_at: Time | null;
  }[];
  readonly did: Did;
  readonly smartAccount: Address;
  readonly pubKeyX: Hash;
  readonly pubKeyY: Hash;
};

/** Where the browser goes, with an answer for the app. */
export type AuthorizationLocation = { readonly location: string };

/** The configuration of the sign-in page. */
export type AuthorizeConfig = {
  readonly issuer: string;
  readonly rpId: string;
  readonly registrar: Did;
  readonly channels: readonly ('email' | 'sms')[];
  readonly moveHours: number;
  readonly recovers: boolean;
  readonly tokenNonce: string | null;
  readonly full: {
    readonly error: 'ip_limit_reached' | 'relay_limit_reached';
    readonly retry_after: Seconds | null;
  } | null;
};

/** A nonce for a passkey to sign. */
export type FreshNonce = { readonly nonce: string; readonly expires_in: Seconds };

/** Whether the index is up to date. */
export type IndexHealth = { readonly ok: boolean; readonly chain: Count };

/** Counts up to the last block that was read. */
export type IndexStatistics = {
  readonly total_dids: Count;
  readonly active_dids: Count;
  readonly total_aliases: Count;
  readonly total_accounts: Count;
  readonly last_block_number: Decimal;
};

/** An account that the factory made. */
export type IndexedAccount =
  | {
      readonly found: true;
      readonly account_address: Address;
      readonly owner_address: Address;
      readonly block_number?: Decimal;
      readonly tx_hash?: Hash;
    }
  | { readonly found: false };

/** The DID of an alias. */
export type IndexedAlias =
  | {
      readonly found: true;
      readonly alias_hash: Hash;
      readonly did_hash: Hash;
      readonly active: boolean;
      readonly controller: Address | null;
    }
  | { readonly found: false };

/** A DID of the registry. */
export type IndexedDid =
  | {
      readonly found: true;
      readonly did_hash: Hash;
      readonly controller: Address;
      readonly metadata_cid: string;
      readonly active: boolean;
      readonly block_number?: Decimal;
      readonly tx_hash?: Hash;
    }
  | { readonly found: false };

/** The outcome of a JSON-RPC call, or of each of a batch in its place. */
export type JsonRpcAnswer = JsonRpcOutcome | readonly JsonRpcOutcome[];

/** A JSON-RPC 2.0 request, or a batch of up to 10. */
export type JsonRpcCall =
  | {
      readonly jsonrpc: '2.0';
      readonly id: string | number | null;
      readonly method: string;
      readonly params: readonly unknown[];
    }
  | readonly {
      readonly jsonrpc: '2.0';
      readonly id: string | number | null;
      readonly method: string;
      readonly params: readonly unknown[];
    }[];

/** The bundler's answer, or why it was not asked. */
export type JsonRpcOutcome =
  | { readonly jsonrpc: '2.0'; readonly id: string | number | null; readonly result: unknown }
  | {
      readonly jsonrpc: '2.0';
      readonly id: string | number | null;
      readonly error: {
        readonly code: Whole;
        readonly message: string;
        readonly data?: { readonly kind?: string; readonly [name: string]: unknown };
      };
    };

/** An address, 20 bytes in 0x-hex. */
export type Address = `0x${string}`;

/** The proof that an address is somebody's: valid for 300 seconds and for one use. */
export type Attestation = {
  readonly identifier: string;
  readonly channel: string;
  readonly verified_at: Time;
  readonly expires_at: Time;
  readonly registrar: Did;
  readonly signature: Hash;
};

/** A way to reach a person, or a name. */
export type Channel = 'sms' | 'email' | 'handle';

/** How many; 0 or more. */
export type Count = number;

/** A number in decimal digits. */
export type Decimal = string;

/** A DID. */
export type Did = string;

/** An answer that only says that it is done. */
export type Done = { readonly ok: true };

/** 32 bytes in 0x-hex. */
export type Hash = `0x${string}`;

/** A WebAuthn assertion by the passkey, its members in base64url. */
export type Proof = { readonly authenticatorData: string; readonly clientDataJSON: string; readonly signature: string };

/** A number in 0x-hex. */
export type Quantity = `0x${string}`;

/** -1 before the first block. */
export type ReadBlock = number;

/** Seconds. */
export type Seconds = number;

/** ISO 8601 in UTC, with milliseconds. */
export type Time = string;

/** A whole number. */
export type Whole = number;

/** The apps that people sign in to. */
export type ConsoleApps = {
  readonly enabled: boolean;
  readonly since: string;
  readonly apps: readonly {
    readonly client_id: string;
    readonly name: string;
    readonly kind: 'confidential' | 'public';
    readonly authentication: readonly ('client_secret_basic' | 'client_secret_post' | 'none')[];
    readonly secrets: number;
    readonly pkce: 'required' | 'optional';
    readonly sector: string;
    readonly redirect_uris: readonly string[];
    readonly codes: number;
    readonly signins: number;
    readonly last_signin_at: Time | null;
    readonly refusals: readonly {
      readonly stage: 'link' | 'page' | 'token';
      readonly reason: string;
      readonly count: Count;
    }[];
  }[];
  readonly others: {
    readonly codes: number;
    readonly signins: number;
    readonly last_signin_at: Time | null;
    readonly refusals: readonly {
      readonly stage: 'link' | 'page' | 'token';
      readonly reason: string;
      readonly count: Count;
    }[];
  };
  readonly signing_keys: readonly SigningKey[];
};

/** A key that signs for others. */
export type SigningKey = {
  readonly kid: string;
  readonly state: 'signing' | 'next' | 'former' | 'sealed';
  readonly signs_from: Time;
  readonly ends_at: Time | null;
};

/** The activity of all processes in the last hour or day. */
export type Activity = {
  readonly range: 'hour' | 'day';
  readonly step_seconds: Count;
  readonly points: readonly {
    readonly at: Time;
    readonly requests: Count | null;
    readonly errors: Count | null;
    readonly sends: Count | null;
    readonly verifications: Count | null;
    readonly registrations: Count | null;
    readonly p50_ms: number | null;
    readonly p95_ms: number | null;
  }[];
  readonly totals: { readonly [name: string]: number };
};

/** The vault's keys by their public parts. */
export type ConsoleKeys = {
  readonly registrar_did: string;
  readonly operator_did: string;
  readonly attestation_keys: number;
  readonly registrar: string | null;
  readonly guardian: string | null;
  readonly credential_keys: readonly SigningKey[];
  readonly stream_tokens: readonly { readonly cid: string; readonly expires_at: Time }[];
};

/** Webhooks, the newest first. */
export type Deliveries = { readonly webhooks: readonly Delivery[] };

/** A webhook and its outcome. */
export type Delivery = {
  readonly id: Count;
  readonly webhook: string;
  readonly type: string;
  readonly app: string;
  readonly channel: string;
  readonly at: Time;
  readonly data: { readonly [name: string]: unknown };
  readonly status: 'queued' | 'delivered' | 'dead';
  readonly attempts: Count;
  readonly next_attempt_at: Time | null;
  readonly last_status: Count | null;
  readonly last_error: string | null;
};

/** A dead webhook is sent again. */
export type DeliveryResent = { readonly ok: true; readonly webhook: Delivery };

/** An invite was made. */
export type InviteCreated = {
  readonly ok: true;
  readonly token: string;
  readonly invite: {
    readonly id: Count;
    readonly status: 'live' | 'used' | 'expired' | 'revoked';
    readonly uses: number;
    readonly used: Count;
    readonly identifier: string | null;
    readonly app: string | null;
    readonly created_at: Time;
    readonly expires_at: Time;
  };
};

/** An invite was revoked. */
export type InviteRevoked = {
  readonly ok: true;
  readonly invite: {
    readonly id: Count;
    readonly status: 'live' | 'used' | 'expired' | 'revoked';
    readonly uses: number;
    readonly used: Count;
    readonly identifier: string | null;
    readonly app: string | null;
    readonly created_at: Time;
    readonly expires_at: Time;
  };
};

/** Invites, the newest first. */
export type Invites = {
  readonly registration: 'open' | 'invite' | 'closed';
  readonly invites: readonly {
    readonly id: Count;
    readonly status: 'live' | 'used' | 'expired' | 'revoked';
    readonly uses: number;
    readonly used: Count;
    readonly identifier: string | null;
    readonly app: string | null;
    readonly created_at: Time;
    readonly expires_at: Time;
  }[];
};

/** A limit was freed. */
export type LimitCleared = { readonly ok: true; readonly kind: string; readonly key: string; readonly cleared: Count };

/** How full the stored limits are. */
export type LimitUses = {
  readonly kinds: readonly string[];
  readonly limits: readonly {
    readonly kind: string;
    readonly key: string;
    readonly max: Count;
    readonly used: Count;
    readonly reached: boolean;
    readonly window_seconds: Count;
    readonly resets_at: Time | null;
  }[];
};

/** A mail and its text message, with made-up values. */
export type MessagePreview = {
  readonly messages: readonly string[];
  readonly languages: readonly string[];
  readonly apps: readonly string[];
  readonly message: string;
  readonly lang: string;
  readonly app: string;
  readonly mail: { readonly subject: string; readonly text: string; readonly html: string };
  readonly sms: {
    readonly text: string;
    readonly alphabet: 'GSM' | 'UCS-2';
    readonly units: Count;
    readonly segments: Count;
  } | null;
};

/** The state of the answering process. */
export type Overview = {
  readonly at: Time;
  readonly version: string;
  readonly client: string;
  readonly live: boolean;
  readonly apps: readonly string[];
  readonly account_kinds: readonly Count[];
  readonly events: {
    readonly types: readonly string[];
    readonly channels: readonly string[];
    readonly first_id: Count;
    readonly last_id: Count;
  };
  readonly counters: {
    readonly requests: { readonly [name: string]: number };
    readonly sends: { readonly [name: string]: number };
    readonly verifications: { readonly [name: string]: number };
    readonly sessions: { readonly [name: string]: number };
    readonly registrations: { readonly [name: string]: number };
  };
  readonly latency: readonly { readonly le: number | null; readonly count: Count }[];
  readonly limits: { readonly [name: string]: number };
  readonly guessing: { readonly [name: string]: number };
  readonly upstreams: { readonly [name: string]: { readonly [name: string]: number } };
  readonly delivery: {
    readonly email: { readonly provider: string; readonly messages: { readonly [name: string]: number } };
    readonly sms: { readonly provider: string; readonly messages: { readonly [name: string]: number } };
  };
  readonly calls: {
    readonly [name: string]: {
      readonly ok_at: Time | null;
      readonly failed_at: Time | null;
      readonly fault: string | null;
    };
  };
  readonly configured: {
    readonly registry: boolean;
    readonly indexer: boolean;
    readonly follower: boolean;
    readonly relay: boolean;
    readonly webhooks: boolean;
  };
  readonly database: {
    readonly state: 'writable' | 'unavailable' | 'stalled' | 'damaged';
    readonly queries: { readonly [name: string]: number };
    readonly connections: { readonly used: Count; readonly max: Count; readonly waiting: Count };
    readonly log: { readonly bytes: Count; readonly checkpoint_age_ms: Count | null } | null;
  };
  readonly doctor: {
    readonly checked_at: Time;
    readonly failures: Count;
    readonly failing: readonly string[];
    readonly warnings: Count;
  } | null;
  readonly backup: {
    readonly made_at: Time | null;
    readonly bytes: Count | null;
    readonly place: string | null;
    readonly due: boolean;
  } | null;
  readonly clock: { readonly off_ms: number };
  readonly relay: {
    readonly trouble: string | null;
    readonly balance: number | null;
    readonly open: { readonly [name: string]: number };
  } | null;
  readonly follower: { readonly block: ReadBlock; readonly lag: Count; readonly silent_ms: Whole } | null;
};

/** The requests refused in the last hour, by error and route. */
export type Refusals = {
  readonly since: Time;
  readonly refusals: readonly {
    readonly error: string;
    readonly status: number;
    readonly cause: string;
    readonly route: string;
    readonly count: Count;
  }[];
};

/** The settings in force. */
export type SettingsInForce = {
  readonly settings: readonly {
    readonly name: string;
    readonly value: string | null;
    readonly default: string | null;
    readonly changed: boolean;
    readonly meaning: string;
  }[];
};

/** A token of the event stream. */
export type StreamToken = { readonly token: string; readonly expires_at: Time; readonly cid: string };

/** A token or a delegation is revoked. */
export type TokenRevoked = { readonly ok: true; readonly cid: string; readonly revoked: boolean };

/** A credential by a passkey. */
export type CredentialIssued = { readonly ok: true; readonly credential: string; readonly expires_at: string };

/** The issuer of credentials, with its keys (draft-ietf-oauth-sd-jwt-vc section 3). */
export type CredentialIssuer = {
  readonly issuer: string;
  readonly jwks: {
    readonly keys: readonly {
      readonly kty: 'EC';
      readonly crv: 'P-256';
      readonly x: string;
      readonly y: string;
      readonly kid: string;
      readonly use: 'sig';
      readonly alg: 'ES256';
    }[];
  };
};

/** The metadata of a type of credentials (draft-ietf-oauth-sd-jwt-vc section 4). */
export type CredentialType = {
  readonly vct: string;
  readonly name: string;
  readonly description: string;
  readonly display: readonly { readonly locale: string; readonly name: string; readonly description: string }[];
  readonly claims: readonly { readonly path: readonly string[]; readonly sd: 'always' | 'never' }[];
};

/** The findings of all checks. */
export type DoctorChecks = {
  readonly checkedAt: Time;
  readonly checks: readonly {
    readonly area: string;
    readonly name: string;
    readonly state: 'ok' | 'warn' | 'fail' | 'skipped';
    readonly text: string;
    readonly remedy?: string;
  }[];
};

/** The outcome of a test message. */
export type TestMessage = {
  readonly check: {
    readonly area: string;
    readonly name: string;
    readonly state: 'ok' | 'warn' | 'fail' | 'skipped';
    readonly text: string;
    readonly remedy?: string;
  };
};

/** Public keys. */
export type Jwks = {
  readonly keys: readonly {
    readonly kty: 'RSA';
    readonly n: string;
    readonly e: string;
    readonly kid: string;
    readonly use: 'sig';
    readonly alg: 'RS256';
  }[];
};

/** The metadata of the provider. */
export type ProviderMetadata = {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly userinfo_endpoint: string;
  readonly [name: string]: unknown;
};

/** The metadata of the authorization server. */
export type ServerMetadata = {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly jwks_uri: string;
  readonly [name: string]: unknown;
};

/** The tokens that a code is exchanged for. */
export type Tokens = {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: Seconds;
  readonly scope?: string;
  readonly id_token?: string;
};

/** The claims of a person: those of the granted scopes that are proven now. */
export type UserInfo = {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: true;
  readonly email_verified_at?: number;
  readonly phone_number?: string;
  readonly phone_number_verified?: true;
  readonly phone_number_verified_at?: number;
  readonly preferred_username?: string;
  readonly did?: Did;
  readonly account?: Address;
  readonly status?: 'submitted' | 'confirmed';
  readonly final?: boolean;
  readonly proofs?: {
    readonly identifier: 'attestation' | 'alias' | null;
    readonly controller: 'passkey' | null;
    readonly did: 'address' | 'moved' | null;
  };
};

/** An operator was added. */
export type OperatorAdded = {
  readonly ok: true;
  readonly token: string;
  readonly operator: {
    readonly name: string;
    readonly role: 'viewer' | 'operator';
    readonly status: 'live' | 'expired';
    readonly created_at: Time;
    readonly expires_at: Time;
  };
};

/** Operators with names. */
export type Operators = {
  readonly operators: readonly {
    readonly name: string;
    readonly role: 'viewer' | 'operator';
    readonly status: 'live' | 'expired';
    readonly created_at: Time;
    readonly expires_at: Time;
  }[];
};

/** Tokens of operators were ended. */
export type OperatorsRevoked = { readonly ok: true; readonly revoked: Count };

/** The holder of the token or secret that a request carries. */
export type WhoCalls = {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'root';
  readonly expires_at: Time | null;
};

/** The service's brand, as its pages show it. */
export type PageBrand = {
  readonly name: string;
  readonly logo: string | null;
  readonly color: { readonly light: string; readonly dark: string } | null;
  readonly support: string | null;
};

/** The words and the brand of a page. */
export type PageWords = {
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  readonly brand: PageBrand;
  readonly words: { readonly [name: string]: string | { readonly [name: string]: string } };
  readonly english: readonly string[];
};

/** Fees to offer, enough for six full blocks. */
export type Fees = {
  readonly maxFeePerGas: Quantity;
  readonly maxPriorityFeePerGas: Quantity;
  readonly time: number;
  readonly block: number;
  readonly p256: boolean;
};

/** The manifest of the payment method, for browsers. */
export type MethodManifest = {
  readonly default_applications: readonly string[];
  readonly supported_origins: readonly string[];
};

/** The configuration of the payment pages. */
export type PayConfig = {
  readonly rpId: string;
  readonly rpName: string;
  readonly origin: string;
  readonly chainId: Count;
  readonly chain: string;
  readonly entryPoint: Address | null;
  readonly factory: Address | null;
  readonly factory2: Address | null;
  readonly usdc: Address | null;
  readonly explorer: string | null;
  readonly feeMax: string;
};

/** The same in the form of the specification. */
export type PaymentMethod = {
  readonly default_applications: readonly { readonly platform: 'webapp'; readonly manifest_url: string }[];
};

/** The chain's state of one nonce of an account. */
export type PaymentOutcome = {
  readonly chainId: Count;
  readonly entryPoint: Address | null;
  readonly head: { readonly number: Count; readonly time: Whole };
  readonly final: { readonly number: Count; readonly time: Whole } | null;
  readonly spent: boolean;
  readonly spentFinal: boolean;
  readonly next: number;
  readonly operation: {
    readonly userOpHash: Hash;
    readonly txHash: Hash;
    readonly block: Count;
    readonly success: boolean;
    readonly moved: boolean | null;
    readonly final: boolean;
  } | null;
};

/** Whether an order was paid. */
export type PaymentVerdict =
  | {
      readonly status: 'paid';
      readonly final: boolean;
      readonly block: Count;
      readonly blockHash: Hash;
      readonly time: number;
      readonly userOpHash: `0x${string}`;
      readonly txHash: Hash;
      readonly account: Address;
    }
  | {
      readonly status: 'paid';
      readonly final: boolean;
      readonly block: Count;
      readonly blockHash: Hash;
      readonly time: number;
      readonly by: 'authorization';
      readonly nonce: `0x${string}`;
      readonly txHash: Hash;
      readonly account: Address;
    }
  | { readonly status: 'unpaid'; readonly reason: 'other_order' | 'reverted' | 'no_transfer' | 'too_old' }
  | { readonly status: 'pending'; readonly reason: 'no_transaction' | 'no_operation' | 'not_canonical' | 'not_final' }
  | {
      readonly status: 'unverifiable';
      readonly reason:
        | 'bad_receipt'
        | 'other_chain'
        | 'other_account_code'
        | 'no_input'
        | 'other_call'
        | 'upgraded'
        | 'no_state';
    };

/** A token, as its contract says. */
export type Token = {
  readonly token: 'native' | Address;
  readonly symbol: string;
  readonly decimals: Count;
  readonly listed: boolean;
  readonly balance?: Decimal;
  readonly deposit?: string;
};

/** The result of an erasure, or of its dry run. */
export type PersonErased = {
  readonly identifiers: readonly string[];
  readonly dids: readonly Did[];
  readonly accounts: readonly string[];
  readonly unproven: number;
  readonly erased: boolean;
  readonly tables: readonly {
    readonly table: string;
    readonly about: string;
    readonly erasure: 'removed' | 'unlinked' | 'stays';
    readonly why: string;
    readonly rows: Count;
  }[];
  readonly waiting: number;
  readonly logEmptied: boolean;
};

/** A person's stored data, for machines. */
export type PersonExported = {
  readonly identifiers: readonly string[];
  readonly dids: readonly Did[];
  readonly accounts: readonly string[];
  readonly unproven: number;
  readonly next: string | null;
  readonly tables: readonly {
    readonly table: string;
    readonly about: string;
    readonly rows: readonly { readonly [name: string]: string | number | null }[];
  }[];
};

/** A person's stored data, in words. */
export type PersonShown = {
  readonly identifiers: readonly string[];
  readonly dids: readonly Did[];
  readonly accounts: readonly string[];
  readonly unproven: number;
  readonly next: string | null;
  readonly tables: readonly {
    readonly table: string;
    readonly about: string;
    readonly kept: string;
    readonly erasure: 'removed' | 'unlinked' | 'stays';
    readonly why: string;
    readonly rows: readonly { readonly [name: string]: string }[];
  }[];
};

/** The arguments of `setGuardian`, which the account's owner calls. */
export type Commitment = { readonly guardian: Address; readonly delaySecondsMin: Seconds; readonly commitment: Hash };

/** The second address for mails about recoveries, masked. */
export type Contact = { readonly ok: true; readonly contact: string | null };

/** The accounts that an address may recover, as far as the vault knows them. */
export type RecoverableAccounts = { readonly accounts: readonly Address[] };

/** The recoveries that the operator sees, the newest first. */
export type Recoveries = {
  readonly recoveries: readonly {
    readonly id: Count;
    readonly app: string;
    readonly account: Address;
    readonly identifier: string | null;
    readonly foreign: boolean;
    readonly status: 'queued' | 'proposed' | 'finished' | 'vetoed' | 'cancelled' | 'lapsed' | 'failed';
    readonly final: boolean;
    readonly stopped: boolean;
    readonly number: Count | null;
    readonly reason: string | null;
    readonly txHash: Hash | null;
    readonly createdAt: Time;
    readonly readyAt: Time | null;
    readonly endedAt: Time | null;
  }[];
};

/** A recovery is open: `submitted` until the chain shows its proposal. */
export type RecoveryOpened = {
  readonly ok: true;
  readonly status: 'submitted' | 'proposed' | 'finished' | 'vetoed' | 'lapsed';
  readonly smartAccount: Address;
  readonly txHash: Hash | null;
  readonly readyAt: Time | null;
};

/** How the recovery of an account stands. */
export type RecoveryState = {
  readonly smartAccount: Address;
  readonly state: 'guarded' | 'unguarded' | 'not_ours';
  readonly barredUntil: Time | null;
  readonly recovery: {
    readonly id: Count | null;
    readonly status:
      | 'submitted'
      | 'proposed'
      | 'ready'
      | 'finishing'
      | 'finished'
      | 'vetoed'
      | 'cancelled'
      | 'lapsed'
      | 'failed';
    readonly final: boolean;
    readonly pubKeyX: Hash;
    readonly pubKeyY: Hash;
    readonly label: Hash;
    readonly txHash: Hash | null;
    readonly readyAt: Time | null;
    readonly lapsesAt: Time | null;
    readonly endedAt: Time | null;
    readonly reason: string | null;
  } | null;
};

/** The guardian withdraws what is open. */
export type RecoveryWithdrawn = { readonly ok: true; readonly status: 'submitted' };

/** A veto is on its way, or was made. */
export type VetoSent = { readonly ok: true; readonly status: 'submitted' | 'vetoed'; readonly txHash: Hash | null };

/** Whether a handle may still be registered, and its hash in the registry. */
export type AliasAvailability = {
  readonly alias: string;
  readonly aliasHash: Hash;
  readonly available: boolean;
  readonly reason?: 'identifier_reserved' | 'identifier_taken';
};

/** Whether an identifier may still be registered. */
export type Availability = {
  readonly identifier: string;
  readonly channel: Channel;
  readonly available: boolean;
  readonly reason?: 'identifier_reserved' | 'identifier_taken';
};

/** Where a credential leads. */
export type DidRecord = {
  readonly credentialId: string;
  readonly did: Did;
  readonly channel: Channel;
  readonly status: 'submitted' | 'confirmed';
  readonly final: boolean;
  readonly proven: boolean;
  readonly proofs: {
    readonly identifier: 'attestation' | 'alias' | null;
    readonly controller: 'passkey' | null;
    readonly did: 'address' | 'moved' | null;
  };
  readonly ambiguous?: true;
  readonly txHash: Hash | null;
  readonly blockNumber: Count | null;
  readonly smartAccount: Address | null;
  readonly pubKeyX: Hash | null;
  readonly pubKeyY: Hash | null;
  readonly signed?: { readonly authenticatorData: string; readonly clientDataHash: string; readonly signature: string };
  readonly moves_at?: string;
  readonly challenges?: readonly { readonly channel: Channel; readonly did: Did; readonly moves_at: Time | null }[];
  readonly registeredAt: Time;
  readonly checkedAt: Time | null;
};

/** A registration is recorded; `status` is there where the vault registers the DID itself. */
export type Registered = {
  readonly ok: true;
  readonly identifier: string;
  readonly channel: Channel;
  readonly txHash: Hash;
  readonly holds?: false;
  readonly moves_at?: string;
  readonly status?: 'confirmed';
};

/** A registration in detail. */
export type RegistrationDetail = {
  readonly registration: {
    readonly id: Count;
    readonly app: string;
    readonly identifier: string;
    readonly channel: Channel;
    readonly did: Did;
    readonly credentialId: string;
    readonly status: 'submitted' | 'confirmed' | 'failed';
    readonly failure: string | null;
    readonly lost: string | null;
    readonly final: boolean;
    readonly holder: boolean;
    readonly proven: boolean;
    readonly txHash: Hash | null;
    readonly blockNumber: Whole | null;
    readonly smartAccount: Address | null;
    readonly registeredAt: Time;
  };
  readonly watch: { readonly checks: number; readonly nextCheckAt: Time | null };
  readonly evidence: { readonly key: string | null; readonly lookedAt: Time | null };
  readonly relay: {
    readonly status: 'queued' | 'signed' | 'mined' | 'confirmed' | 'failed';
    readonly failure: string | null;
    readonly signer: Address | null;
    readonly nonce: Count | null;
    readonly queuedAt: Time;
  } | null;
  readonly session: {
    readonly identifier: string;
    readonly channel: Channel;
    readonly app: string;
    readonly did: Did;
    readonly status: 'open' | 'linked' | 'lapsed';
    readonly createdAt: Time;
    readonly expiresAt: Time | null;
  } | null;
  readonly verifiedAt: Time | null;
  readonly codes: readonly {
    readonly sentAt: Time;
    readonly expiresAt: Time;
    readonly delivery: 'pending' | 'accepted' | 'refused' | 'lost';
    readonly attempts: number;
    readonly verifiedAt: Time | null;
  }[];
  readonly others: readonly {
    readonly id: Count;
    readonly app: string;
    readonly identifier: string;
    readonly channel: Channel;
    readonly did: Did;
    readonly credentialId: string;
    readonly status: 'submitted' | 'confirmed' | 'failed';
    readonly failure: string | null;
    readonly lost: string | null;
    readonly final: boolean;
    readonly holder: boolean;
    readonly proven: boolean;
    readonly txHash: Hash | null;
    readonly blockNumber: Whole | null;
    readonly smartAccount: Address | null;
    readonly registeredAt: Time;
  }[];
  readonly chain: {
    readonly chainId: Count;
    readonly name: string;
    readonly registry: Address | null;
    readonly explorer: string | null;
  };
};

/** The vault is registering the DID: it is in no block yet. */
export type RegistrationSubmitted = {
  readonly ok: true;
  readonly identifier: string;
  readonly channel: Channel;
  readonly txHash: Hash;
  readonly holds?: false;
  readonly moves_at?: string;
  readonly status: 'submitted';
};

/** A registration that was undone, and the one that holds its identifier now. */
export type RegistrationUndone = {
  readonly ok: true;
  readonly id: Count;
  readonly did: Did;
  readonly holder: { readonly id: Count; readonly did: Did } | null;
};

/** Registrations, the newest first. */
export type Registrations = {
  readonly registrations: readonly {
    readonly id: Count;
    readonly app: string;
    readonly identifier: string;
    readonly channel: Channel;
    readonly did: Did;
    readonly credentialId: string;
    readonly status: 'submitted' | 'confirmed' | 'failed';
    readonly failure: string | null;
    readonly lost: string | null;
    readonly final: boolean;
    readonly holder: boolean;
    readonly proven: boolean;
    readonly txHash: Hash | null;
    readonly blockNumber: Whole | null;
    readonly smartAccount: Address | null;
    readonly registeredAt: Time;
  }[];
  readonly next: string | null;
  readonly searchedTo: Time | null;
  readonly total: { readonly count: Count; readonly exact: boolean } | null;
};

/** Whether an address has moved, or will once the claim of the other DID is final. */
export type Released = { readonly ok: true; readonly moved: boolean };

/** How many sessions there are, of the client's address and in all. */
export type SessionCounts = {
  readonly ip_registrations: number;
  readonly ip_limit: Count;
  readonly total_registrations: Count;
};

/** A session holds an identifier. */
export type SessionOpened = {
  readonly ok: true;
  readonly identifier: string;
  readonly channel: Channel;
  readonly did: Did;
};

/** Sessions, the newest first. */
export type Sessions = {
  readonly sessions: readonly {
    readonly identifier: string;
    readonly channel: Channel;
    readonly app: string;
    readonly did: Did;
    readonly status: 'open' | 'linked' | 'lapsed';
    readonly createdAt: Time;
    readonly expiresAt: Time | null;
  }[];
  readonly next: string | null;
  readonly searchedTo: Time | null;
  readonly total: { readonly count: Count; readonly exact: boolean } | null;
};

/** The process is alive. */
export type Alive = { readonly ok: true };

/** The contracts, null for those that are not deployed, and the DID that signs attestations. */
export type Contracts = {
  readonly chainId: Count;
  readonly entryPoint: Address | null;
  readonly didRegistry: Address | null;
  readonly accountHelper: Address | null;
  readonly sessionSBT: Address | null;
  readonly hyperAuthFactory: Address | null;
  readonly accountFactory2: Address | null;
  readonly registrar: Did;
  readonly guardian: Address | null;
};

/** The registrar's DID document (DID Core 1.1). */
export type DidDocument = {
  readonly id: Did;
  readonly verificationMethod: readonly { readonly id: string; readonly [name: string]: unknown }[];
  readonly [name: string]: unknown;
};

/** Whether requests can be served; the members after `server` do not count for it. */
export type Readiness = {
  readonly ok: boolean;
  readonly database: 'writable' | 'unavailable' | 'stalled' | 'damaged';
  readonly clock?: { readonly offSeconds: Whole };
  readonly stopping?: true;
  readonly server?: { readonly sqlite: string | null; readonly survivesPowerLoss: boolean | null };
  readonly follower?: { readonly block: ReadBlock; readonly lag: Count };
  readonly relay?: string;
  readonly registry?: 'missing';
};

/** The origins that may use the vault's passkeys. */
export type RelatedOrigins = { readonly origins: readonly string[] };

/** The origin of a request, as the vault sees it. */
export type Sighting = {
  readonly client: string;
  readonly peer: string | null;
  readonly trusted: boolean;
  readonly named: string | null;
  readonly forwarded: boolean;
};

/** The vault's state, and the chain it serves. */
export type Status = {
  readonly chain: string;
  readonly chainId: Count;
  readonly rpc: string | null;
  readonly database: 'connected' | 'unavailable';
  readonly version: string;
  readonly time: number;
  readonly rpId: string;
  readonly rpIds: readonly string[];
  readonly brand: { readonly name: string };
  readonly relays: boolean;
  readonly enclave?: { readonly sha256: string };
};

/** The outcome of a check of a code, or of a token. */
export type CodeChecked =
  | { readonly ok: true; readonly verified: true; readonly attestation: Attestation }
  | { readonly ok: true; readonly credential: string; readonly expires_at: string; readonly verified: true }
  | {
      readonly ok: true;
      readonly verified: false;
      readonly message: 'Incorrect code' | 'Code expired' | 'Too many attempts' | 'No code was sent' | 'Token refused';
      readonly reason?: 'form' | 'email' | 'time' | 'audience' | 'nonce' | 'holder' | 'issuer';
      readonly attempts_remaining?: number;
    };

/** A code was sent, or a pass alone. */
export type CodeSent = {
  readonly ok: true;
  readonly channel: 'sms' | 'email';
  readonly expires_in: number;
  readonly retry_after: number;
  readonly challenge: string;
};

/** Whether an address was ever proven. */
export type Verification = {
  readonly identifier: string;
  readonly channel: Channel;
  readonly verified: boolean;
  readonly verifiedAt: Time | null;
};

/** Every operation that answers JSON, by method and path: what it takes, and what it answers. */
export interface Operations {
  /** The vault's state, and the chain it serves. */
  'GET /api/status': { input: Readonly<Record<never, never>>; answer: Status };
  /** The origin of this request, as the vault sees it. */
  'GET /api/client': { input: Readonly<Record<never, never>>; answer: Sighting };
  /** The contracts on the chain, and the DID of the registrar. */
  'GET /api/contracts': { input: Readonly<Record<never, never>>; answer: Contracts };
  /** Hold an identifier for a DID. */
  'POST /api/sessions': {
    input: {
      readonly identifier: string;
      readonly channel: 'sms' | 'email' | 'handle';
      readonly did: string;
      readonly invite?: string | undefined;
    };
    answer: SessionOpened;
  };
  /** How many sessions there are, of this address and in all. */
  'GET /api/sessions/status': { input: Readonly<Record<never, never>>; answer: SessionCounts };
  /** Whether an identifier may still be registered. */
  'GET /api/sessions/check': {
    input: { readonly identifier: string; readonly channel?: 'sms' | 'email' | 'handle' | undefined };
    answer: Availability;
  };
  /** Send a one-time code to an address. */
  'POST /api/verify/send': {
    input: {
      readonly identifier: string;
      readonly channel: 'sms' | 'email';
      readonly pass?: string | undefined;
      readonly bind?: boolean | undefined;
      readonly lang?: string | undefined;
      readonly invite?: string | undefined;
      readonly purpose?: 'registration' | 'recovery' | 'credential' | undefined;
      readonly proof?: Proof | undefined;
      readonly nonce?: string | undefined;
    };
    answer: CodeSent;
  };
  /** Check a code, or a token of the browser. */
  'POST /api/verify/check': {
    input:
      | {
          readonly identifier: string;
          readonly channel: 'sms' | 'email';
          readonly code: string;
          readonly challenge?: string | undefined;
          readonly purpose?: 'registration' | 'recovery' | 'credential' | undefined;
          readonly holder?: string | undefined;
        }
      | {
          readonly identifier: string;
          readonly channel: 'sms' | 'email';
          readonly token: string;
          readonly code?: string | undefined;
          readonly purpose?: 'registration' | 'recovery' | 'credential' | undefined;
        };
    answer: CodeChecked;
  };
  /** Whether an address was ever proven. */
  'GET /api/verify/status': {
    input: { readonly identifier: string; readonly channel: 'sms' | 'email' };
    answer: Verification;
  };
  /** Record a DID that is on-chain, or have it registered. */
  'POST /api/dids': {
    input:
      | {
          readonly credentialId: string;
          readonly identifier: string;
          readonly channel: 'sms' | 'email' | 'handle';
          readonly did: string;
          readonly invite?: string | undefined;
          readonly txHash: string;
          readonly blockNumber?: number | undefined;
          readonly smartAccount?: string | undefined;
          readonly proof?: Proof | undefined;
          readonly proofExpiresAt?: number | undefined;
          readonly pubKeyX?: string | undefined;
          readonly pubKeyY?: string | undefined;
          readonly salt?: string | undefined;
          readonly attestation?: Attestation | undefined;
        }
      | {
          readonly credentialId: string;
          readonly identifier: string;
          readonly channel: 'sms' | 'email' | 'handle';
          readonly did: string;
          readonly invite?: string | undefined;
          readonly smartAccount: string;
          readonly pubKeyX: string;
          readonly pubKeyY: string;
          readonly proof: Proof;
          readonly proofExpiresAt?: number | undefined;
          readonly salt?: string | undefined;
          readonly attestation?: Attestation | undefined;
        };
    answer: Registered | RegistrationSubmitted;
  };
  /** Let another DID have an address. */
  'POST /api/dids/release': {
    input: {
      readonly identifier: string;
      readonly channel: 'sms' | 'email';
      readonly proof: Proof;
      readonly nonce: string;
    };
    answer: Released;
  };
  /** Where a credential leads. */
  'GET /api/dids/lookup': {
    input: {
      readonly credentialId: string;
      readonly pubKeyX?: string | undefined;
      readonly pubKeyY?: string | undefined;
    };
    answer: DidRecord;
  };
  /** A credential of an address, by the passkey of the DID that holds it. */
  'POST /api/credentials': {
    input: {
      readonly identifier: string;
      readonly channel: 'sms' | 'email';
      readonly credentialId: string;
      readonly proof: Proof;
      readonly nonce: string;
      readonly smartAccount?: string | undefined;
      readonly holder: string;
    };
    answer: CredentialIssued;
  };
  /** The type of a credential of a proven mail address. */
  'GET /credentials/types/email': { input: Readonly<Record<never, never>>; answer: CredentialType };
  /** The type of a credential of a proven phone number. */
  'GET /credentials/types/phone': { input: Readonly<Record<never, never>>; answer: CredentialType };
  /** Whether a handle may still be registered. */
  'GET /api/aliases/check': { input: { readonly alias: string }; answer: AliasAvailability };
  /** Where the account of a key is, or would be. */
  'GET /api/accounts/predict': {
    input: {
      readonly pubKeyX: string;
      readonly pubKeyY: string;
      readonly salt?: string | number | bigint | undefined;
      readonly kind?: '1' | '2' | undefined;
    };
    answer: PredictedAccount;
  };
  /** An account as the chain has it. */
  'GET /api/accounts/state': { input: { readonly account: string }; answer: AccountState };
  /** Look into the mailbox of a new key. */
  'GET /api/accounts/joins': { input: { readonly id: string }; answer: Join };
  /** Open a mailbox for a key that another device makes. */
  'POST /api/accounts/joins': { input: { readonly id: string; readonly smartAccount: string }; answer: JoinOpened };
  /** Leave a public key in a mailbox. */
  'POST /api/accounts/joins/keys': {
    input: { readonly id: string; readonly pubKeyX: string; readonly pubKeyY: string; readonly label: string };
    answer: Join;
  };
  /** The arguments with which the owner of an account calls setGuardian. */
  'POST /api/recoveries/commitments': {
    input: { readonly attestation: Attestation; readonly smartAccount: string; readonly lang?: string | undefined };
    answer: Commitment;
  };
  /** The accounts that an address may recover. */
  'POST /api/recoveries/accounts': { input: { readonly attestation: Attestation }; answer: RecoverableAccounts };
  /** Propose a new key for an account. */
  'POST /api/recoveries': {
    input: {
      readonly attestation: Attestation;
      readonly smartAccount: string;
      readonly credentialId: string;
      readonly pubKeyX: string;
      readonly pubKeyY: string;
      readonly proof: Proof;
      readonly proofExpiresAt?: number | undefined;
      readonly label?: string | undefined;
    };
    answer: RecoveryOpened;
  };
  /** How the recovery of an account stands. */
  'GET /api/recoveries/status': { input: { readonly smartAccount: string }; answer: RecoveryState };
  /** Withdraw the recoveries of an account by its address. */
  'POST /api/recoveries/cancellations': {
    input: { readonly attestation: Attestation; readonly smartAccount: string };
    answer: RecoveryWithdrawn;
  };
  /** Send an owner's veto of the pending recovery. */
  'POST /api/recoveries/vetoes': {
    input: { readonly smartAccount: string; readonly signature: string };
    answer: VetoSent;
  };
  /** Name a second address for mails about recoveries. */
  'POST /api/recoveries/contacts': {
    input: {
      readonly smartAccount: string;
      readonly pubKeyX: string;
      readonly pubKeyY: string;
      readonly proof: Proof;
      readonly nonce: string;
      readonly attestation?: Attestation | undefined;
      readonly lang?: string | undefined;
    };
    answer: Contact;
  };
  /** The balance of an address in ether or USDC. */
  'GET /api/balance': {
    input: { readonly account: string; readonly token: string; readonly chainId: string };
    answer: Balance;
  };
  /** Call the bundler by JSON-RPC. */
  'POST /api/bundler': { input: JsonRpcCall; answer: JsonRpcAnswer };
  /** The DID of an alias, by its hash. */
  'GET /api/indexer/aliases': { input: { readonly hash: string }; answer: IndexedAlias };
  /** A DID of the registry, by its hash. */
  'GET /api/indexer/dids': { input: { readonly hash: string }; answer: IndexedDid };
  /** An account that the factory made. */
  'GET /api/indexer/accounts': { input: { readonly address: string }; answer: IndexedAccount };
  /** How many DIDs, aliases and accounts there are. */
  'GET /api/indexer/stats': { input: Readonly<Record<never, never>>; answer: IndexStatistics };
  /** Whether the index is up to date. */
  'GET /api/indexer/health': { input: Readonly<Record<never, never>>; answer: IndexHealth };
  /** The words and the brand of `/pass`. */
  'GET /words/pass.json': {
    input: { readonly lang?: string | undefined; readonly app?: string | undefined };
    answer: PageWords;
  };
  /** The words and the brand of `/authorize`. */
  'GET /words/authorize.json': {
    input: { readonly lang?: string | undefined; readonly app?: string | undefined };
    answer: PageWords;
  };
  /** The words and the brand of `/pay`. */
  'GET /words/pay.json': {
    input: { readonly lang?: string | undefined; readonly app?: string | undefined };
    answer: PageWords;
  };
  /** The words and the brand of `/approve`. */
  'GET /words/approve.json': {
    input: { readonly lang?: string | undefined; readonly app?: string | undefined };
    answer: PageWords;
  };
  /** The words and the brand of `/account`. */
  'GET /words/account.json': {
    input: { readonly lang?: string | undefined; readonly app?: string | undefined };
    answer: PageWords;
  };
  /** The words and the brand of `/`. */
  'GET /words/landing.json': {
    input: { readonly lang?: string | undefined; readonly app?: string | undefined };
    answer: PageWords;
  };
  /** The W3C payment method manifest. */
  'GET /pay/method-manifest.json': { input: Readonly<Record<never, never>>; answer: MethodManifest };
  /** The payment method in the form of the specification. */
  'GET /pay/payment-method.json': { input: Readonly<Record<never, never>>; answer: PaymentMethod };
  /** The configuration of the payment pages. */
  'GET /pay/config': { input: { readonly app?: string | undefined }; answer: PayConfig };
  /** A token, as its contract says, and an account's balance of it. */
  'GET /pay/token': { input: { readonly token: string; readonly account?: string | undefined }; answer: Token };
  /** Fees to offer for a user operation. */
  'GET /pay/fees': { input: Readonly<Record<never, never>>; answer: Fees };
  /** The chain's state of one nonce of an account. */
  'GET /pay/outcome': {
    input: {
      readonly account: string;
      readonly nonce: string;
      readonly since?: string | number | bigint | undefined;
      readonly to?: string | undefined;
      readonly token?: string | undefined;
      readonly amount?: string | number | bigint | undefined;
      readonly hint?: string | undefined;
    };
    answer: PaymentOutcome;
  };
  /** Whether an order was paid. */
  'GET /pay/verify': {
    input: {
      readonly origin: string;
      readonly frame?: string | undefined;
      readonly id: string;
      readonly to: string;
      readonly token: string;
      readonly amount: string | number | bigint;
      readonly chainId: string | number | bigint;
      readonly since?: string | number | bigint | undefined;
      readonly by?: 'authorization' | undefined;
      readonly userOpHash?: string | undefined;
      readonly txHash?: string | undefined;
      readonly account?: string | undefined;
    };
    answer: PaymentVerdict;
  };
  /** A nonce for a passkey to sign, or a code for an app, for the registration that the evidence shows. */
  'POST /authorize/code': {
    input:
      | { readonly request: string; readonly fresh: true }
      | {
          readonly request: string;
          readonly cancelled?: true | undefined;
          readonly credentialId?: string | undefined;
          readonly nonce?: string | undefined;
          readonly proof?: Proof | undefined;
          readonly smartAccount?: string | undefined;
          readonly attestation?: Attestation | undefined;
          readonly identifiers?:
            | { readonly email?: string | null | undefined; readonly sms?: string | null | undefined }
            | undefined;
        };
    answer: FreshNonce | AuthorizationLocation | AddressChoice;
  };
  /** The configuration of the sign-in page. */
  'GET /authorize/config': { input: Readonly<Record<never, never>>; answer: AuthorizeConfig };
  /** Exchange a code, once, for an ID token and an access token. */
  'POST /token': { input: Readonly<Record<never, never>>; answer: Tokens };
  /** The claims of an access token. */
  'GET /userinfo': { input: Readonly<Record<never, never>>; answer: UserInfo };
  /** The same; the body is not read. */
  'POST /userinfo': { input: Readonly<Record<never, never>>; answer: UserInfo };
  /** The public keys of ID tokens. */
  'GET /jwks': { input: Readonly<Record<never, never>>; answer: Jwks };
  /** The registrar's DID document. */
  'GET /.well-known/did.json': { input: Readonly<Record<never, never>>; answer: DidDocument };
  /** The issuer of credentials, with its keys. */
  'GET /.well-known/jwt-vc-issuer': { input: Readonly<Record<never, never>>; answer: CredentialIssuer };
  /** The metadata of the OpenID Provider. */
  'GET /.well-known/openid-configuration': { input: Readonly<Record<never, never>>; answer: ProviderMetadata };
  /** The metadata of the authorization server. */
  'GET /.well-known/oauth-authorization-server': { input: Readonly<Record<never, never>>; answer: ServerMetadata };
  /** The origins that may use the vault's passkeys. */
  'GET /.well-known/webauthn': { input: Readonly<Record<never, never>>; answer: RelatedOrigins };
  /** Whether the process is alive. */
  'GET /healthz': { input: Readonly<Record<never, never>>; answer: Alive };
  /** Whether requests can be served. */
  'GET /readyz': { input: Readonly<Record<never, never>>; answer: Readiness };
  /** The apps of CLIENTS, their sign-ins and refusals of the last day, and the keys of ID tokens. */
  'GET /v1/console/apps': { input: Readonly<Record<never, never>>; answer: ConsoleApps };
  /** The settings in force, without secrets. */
  'GET /v1/console/settings': { input: Readonly<Record<never, never>>; answer: SettingsInForce };
  /** The requests that all processes refused in the last hour, by error and route. */
  'GET /v1/console/refusals': { input: Readonly<Record<never, never>>; answer: Refusals };
  /** The vault's keys by their public parts, and the tokens that have opened a stream. */
  'GET /v1/console/keys': { input: Readonly<Record<never, never>>; answer: ConsoleKeys };
  /** Issue a token of the event stream. */
  'POST /v1/console/token': {
    input: { readonly app: string; readonly channel?: string | undefined; readonly renews?: string | undefined };
    answer: StreamToken;
  };
  /** Revoke a token or a delegation. */
  'POST /v1/console/revoke': { input: { readonly cid: string }; answer: TokenRevoked };
  /** The operator of this token or secret, and the role. */
  'GET /v1/console/operator': { input: Readonly<Record<never, never>>; answer: WhoCalls };
  /** Operators with names, and when their tokens end. */
  'GET /v1/console/operators': { input: Readonly<Record<never, never>>; answer: Operators };
  /** Give an operator a name and a token. */
  'POST /v1/console/operators': {
    input: { readonly name: string; readonly role: 'viewer' | 'operator'; readonly days?: number | undefined };
    answer: OperatorAdded;
  };
  /** End an operator's token, or all of them. */
  'POST /v1/console/operators/revoke': {
    input: { readonly name?: string | undefined; readonly all?: boolean | undefined };
    answer: OperatorsRevoked;
  };
  /** Registrations, the newest first; or those of an identifier, a credential or a DID. */
  'GET /v1/console/registrations': {
    input: {
      readonly identifier?: string | undefined;
      readonly credentialId?: string | undefined;
      readonly did?: string | undefined;
      readonly status?: 'submitted' | 'confirmed' | 'failed' | undefined;
      readonly channel?: 'sms' | 'email' | 'handle' | undefined;
      readonly app?: string | undefined;
      readonly from?: string | number | bigint | undefined;
      readonly to?: string | number | bigint | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: string | number | bigint | undefined;
    };
    answer: Registrations;
  };
  /** A registration with its relay, session and codes. */
  'GET /v1/console/registrations/detail': {
    input: { readonly id: string | number | bigint };
    answer: RegistrationDetail;
  };
  /** Fail a registration that took an address over wrongly. */
  'POST /v1/console/registrations/undo': { input: { readonly id: number }; answer: RegistrationUndone };
  /** Sessions, the newest first; or that of an identifier. */
  'GET /v1/console/sessions': {
    input: {
      readonly identifier?: string | undefined;
      readonly status?: 'open' | 'linked' | 'lapsed' | undefined;
      readonly channel?: 'sms' | 'email' | 'handle' | undefined;
      readonly app?: string | undefined;
      readonly from?: string | number | bigint | undefined;
      readonly to?: string | number | bigint | undefined;
      readonly cursor?: string | undefined;
      readonly limit?: string | number | bigint | undefined;
    };
    answer: Sessions;
  };
  /** A person's stored data, in words, page by page. */
  'POST /v1/console/person/show': {
    input: {
      readonly identifier?: string | undefined;
      readonly registration?: number | undefined;
      readonly after?: string | undefined;
    };
    answer: PersonShown;
  };
  /** A person's stored data, as it is stored, page by page. */
  'POST /v1/console/person/export': {
    input: {
      readonly identifier?: string | undefined;
      readonly registration?: number | undefined;
      readonly after?: string | undefined;
    };
    answer: PersonExported;
  };
  /** Erase a person, or report the effect in advance. */
  'POST /v1/console/person/erase': {
    input: {
      readonly identifier?: string | undefined;
      readonly registration?: number | undefined;
      readonly dryRun?: boolean | undefined;
    };
    answer: PersonErased;
  };
  /** Recoveries of accounts, the newest first. */
  'GET /v1/console/recoveries': {
    input: { readonly account?: string | undefined; readonly open?: 'true' | 'false' | undefined };
    answer: Recoveries;
  };
  /** Withdraw the recoveries of an account. */
  'POST /v1/console/recoveries/cancel': { input: { readonly account: string }; answer: Done };
  /** How full the stored limits are. */
  'GET /v1/console/limits': {
    input: {
      readonly kind?:
        | 'sends-per-ip'
        | 'sends-per-identifier'
        | 'pass-sends-per-ip'
        | 'pass-sends-per-identifier'
        | 'keep-sends-per-identifier'
        | 'sends-per-number'
        | 'sends-per-number-day'
        | 'strangers-per-network'
        | 'emails-per-day'
        | 'emails-per-network'
        | 'sms-per-day'
        | 'sms-per-network'
        | 'guesses-per-identifier'
        | 'registrations-per-ip'
        | 'sessions-per-network'
        | 'relays-per-day'
        | 'relays-per-network'
        | 'recoveries-per-day'
        | 'recoveries-per-network'
        | 'sponsorships-per-day'
        | 'sponsorships-per-network'
        | 'sponsorships-per-account'
        | 'sponsor-wei'
        | 'sponsor-wei-per-network'
        | 'sponsor-wei-per-account'
        | 'joins-per-ip'
        | 'joins-per-hour'
        | 'joins-per-network'
        | 'credentials-per-identifier'
        | 'test-messages'
        | undefined;
      readonly key?: string | undefined;
    };
    answer: LimitUses;
  };
  /** Free a limit. */
  'POST /v1/console/limits/clear': {
    input: {
      readonly kind:
        | 'sends-per-ip'
        | 'sends-per-identifier'
        | 'pass-sends-per-ip'
        | 'pass-sends-per-identifier'
        | 'keep-sends-per-identifier'
        | 'sends-per-number'
        | 'sends-per-number-day'
        | 'strangers-per-network'
        | 'emails-per-day'
        | 'emails-per-network'
        | 'sms-per-day'
        | 'sms-per-network'
        | 'guesses-per-identifier'
        | 'registrations-per-ip'
        | 'sessions-per-network'
        | 'relays-per-day'
        | 'relays-per-network'
        | 'recoveries-per-day'
        | 'recoveries-per-network'
        | 'sponsorships-per-day'
        | 'sponsorships-per-network'
        | 'sponsorships-per-account'
        | 'sponsor-wei'
        | 'sponsor-wei-per-network'
        | 'sponsor-wei-per-account'
        | 'joins-per-ip'
        | 'joins-per-hour'
        | 'joins-per-network'
        | 'credentials-per-identifier'
        | 'test-messages';
      readonly key?: string | undefined;
    };
    answer: LimitCleared;
  };
  /** Invites, the newest first. */
  'GET /v1/console/invites': { input: { readonly before?: string | number | bigint | undefined }; answer: Invites };
  /** Make an invite. */
  'POST /v1/console/invites': {
    input: {
      readonly uses?: number | undefined;
      readonly expires_in?: number | undefined;
      readonly identifier?: string | undefined;
      readonly app?: string | undefined;
    };
    answer: InviteCreated;
  };
  /** Revoke an invite. */
  'POST /v1/console/invites/revoke': { input: { readonly id: number }; answer: InviteRevoked };
  /** The state of the answering process. */
  'GET /v1/console/overview': { input: Readonly<Record<never, never>>; answer: Overview };
  /** The activity of all processes in the last hour or day. */
  'GET /v1/console/history': { input: { readonly range?: 'hour' | 'day' | undefined }; answer: Activity };
  /** A mail and its text message, with made-up values. */
  'GET /v1/console/messages': {
    input: {
      readonly message?:
        | 'code.registration'
        | 'code.recovery'
        | 'code.credential'
        | 'pass'
        | 'taken_over'
        | 'recovery_started'
        | 'recovery_running'
        | 'recovery_finished'
        | 'recovery_vetoed'
        | 'recovery_cancelled'
        | 'recovery_lapsed'
        | 'recovery_failed'
        | 'recovery_contact'
        | 'challenge_begun'
        | 'challenge_soon'
        | 'challenge_kept'
        | 'challenge_released'
        | 'challenge_replaced'
        | 'challenge_moved'
        | 'challenge_failed'
        | 'passkey_new'
        | undefined;
      readonly lang?: string | undefined;
      readonly app?: string | undefined;
    };
    answer: MessagePreview;
  };
  /** Check every dependency, at most every 15 seconds, with remedies. */
  'GET /v1/console/doctor': { input: Readonly<Record<never, never>>; answer: DoctorChecks };
  /** Send a test mail or SMS through the provider in force, and report the outcome. */
  'POST /v1/console/doctor/send': { input: { readonly to: string }; answer: TestMessage };
  /** Webhooks, the newest first. */
  'GET /v1/console/webhooks': {
    input: {
      readonly status?: 'queued' | 'delivered' | 'dead' | undefined;
      readonly before?: string | number | bigint | undefined;
    };
    answer: Deliveries;
  };
  /** Send a dead webhook again. */
  'POST /v1/console/webhooks/resend': { input: { readonly id: number }; answer: DeliveryResent };
}

/** The name of an operation, such as `POST /api/verify/send`. */
export type OperationName = keyof Operations;
/** The input of an operation. */
export type InputOf<Name extends OperationName> = Operations[Name]['input'];
/** The answer of an operation. */
export type AnswerOf<Name extends OperationName> = Operations[Name]['answer'];
