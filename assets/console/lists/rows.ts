// What the API answers, as far as the lists show it.

/** A registration. */
export interface Registration {
  readonly id: number;
  readonly app: string;
  readonly identifier: string;
  readonly channel: string;
  readonly did: string;
  readonly credentialId: string;
  readonly status: 'submitted' | 'confirmed' | 'failed';
  readonly failure: string | null;
  readonly lost: string | null;
  readonly final: boolean;
  readonly holder: boolean;
  readonly proven: boolean;
  readonly txHash: string | null;
  readonly blockNumber: number | null;
  readonly smartAccount: string | null;
  readonly registeredAt: string;
}

/** A session. */
export interface Session {
  readonly identifier: string;
  readonly channel: string;
  readonly app: string;
  readonly did: string;
  readonly status: 'open' | 'linked' | 'lapsed';
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** A page of a list. */
export interface Page {
  readonly next: string | null;
  readonly searchedTo: string | null;
  readonly total: { readonly count: number; readonly exact: boolean } | null;
}

/** A registration with what belongs to it. */
export interface RegistrationDetail {
  readonly registration: Registration;
  readonly watch: { readonly checks: number; readonly nextCheckAt: string | null };
  readonly relay: {
    readonly status: string;
    readonly failure: string | null;
    readonly signer: string | null;
    readonly nonce: number | null;
    readonly queuedAt: string;
  } | null;
  readonly session: Session | null;
  readonly verifiedAt: string | null;
  readonly codes: readonly {
    readonly sentAt: string;
    readonly expiresAt: string;
    readonly delivery: string;
    readonly attempts: number;
    readonly verifiedAt: string | null;
  }[];
  readonly others: readonly Registration[];
  readonly chain: { readonly chainId: number; readonly name: string; readonly explorer: string | null };
}
