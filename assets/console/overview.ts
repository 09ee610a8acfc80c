type Outcomes = Readonly<Record<string, number>>;

/** When a part outside last answered and last failed, and why. */
export interface CallTimes {
  readonly ok_at: string | null;
  readonly failed_at: string | null;
  readonly fault: string | null;
}

/** The answer of `GET /v1/console/overview`; a test compares it with the vault's own type. */
export interface Overview {
  readonly at: string;
  readonly version: string;
  readonly client: string;
  readonly live: boolean;
  readonly apps: readonly string[];
  readonly account_kinds: readonly number[];
  readonly events: {
    readonly types: readonly string[];
    readonly channels: readonly string[];
    readonly first_id: number;
    readonly last_id: number;
  };
  readonly counters: Readonly<Record<'requests' | 'sends' | 'verifications' | 'sessions' | 'registrations', Outcomes>>;
  readonly latency: readonly { readonly le: number | null; readonly count: number }[];
  readonly limits: Outcomes;
  readonly guessing: Outcomes;
  readonly upstreams: Readonly<Record<string, Outcomes>>;
  readonly delivery: Readonly<Record<'email' | 'sms', { readonly provider: string; readonly messages: Outcomes }>>;
  readonly calls: Readonly<Record<string, CallTimes>>;
  readonly configured: Readonly<Record<'registry' | 'indexer' | 'follower' | 'relay' | 'webhooks', boolean>>;
  readonly database: {
    readonly state: string;
    readonly queries: Outcomes;
    readonly connections: { readonly used: number; readonly max: number; readonly waiting: number };
    readonly log: { readonly bytes: number; readonly checkpoint_age_ms: number | null } | null;
  };
  readonly doctor: {
    readonly checked_at: string;
    readonly failures: number;
    readonly failing: readonly string[];
    readonly warnings: number;
  } | null;
  readonly backup: {
    readonly made_at: string | null;
    readonly bytes: number | null;
    readonly place: string | null;
    readonly due: boolean;
  } | null;
  readonly clock: { readonly off_ms: number };
  readonly relay: { readonly trouble: string | null; readonly balance: number | null; readonly open: Outcomes } | null;
  readonly follower: { readonly block: number; readonly lag: number; readonly silent_ms: number } | null;
}
