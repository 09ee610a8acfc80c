// The parts of what the vault's operations take and answer. Types alone.
import type { Hex } from '../wallet/bytes.ts';
import type { ProofParts } from '../wallet/proof.ts';

export type { Hex };

/** An address or a number is proven by a code, a handle by the chain. */
export type Channel = 'email' | 'sms' | 'handle';

/** What is registered: its channel, and its text in any form that the channel takes. */
export interface Subject {
  readonly identifier: string;
  readonly channel: Channel;
}

/** What takes codes. */
export interface Provable {
  readonly identifier: string;
  readonly channel: 'email' | 'sms';
}

/** The vault's signed word that a code was right: valid for 300 seconds and one registration. */
export interface Attestation extends Provable {
  readonly verified_at: string;
  readonly expires_at: string;
  readonly registrar: string;
  readonly signature: string;
}

/** A key of a passkey, its coordinates as 0x-hex. */
export interface Key {
  readonly pubKeyX: string;
  readonly pubKeyY: string;
}

/** What is sent to register a DID: without `txHash` the vault does it on-chain itself, where it relays. */
export interface RegistrationInput extends Subject, Partial<Key> {
  readonly credentialId: string;
  readonly did: string;
  readonly txHash?: string;
  readonly blockNumber?: number;
  readonly smartAccount?: string;
  readonly attestation?: Attestation;
  readonly proof?: ProofParts;
  readonly proofExpiresAt?: number;
  readonly salt?: string;
}

/** A registration as a look-up by its passkey shows it. */
export interface RegistrationRow {
  readonly credentialId: string;
  readonly did: string;
  readonly channel: Channel;
  readonly status: 'submitted' | 'confirmed';
  readonly final: boolean;
  readonly proven: boolean;
  readonly proofs: {
    readonly identifier: 'attestation' | 'alias' | null;
    readonly controller: 'passkey' | null;
    readonly did: 'address' | 'moved' | null;
  };
  readonly txHash: string | null;
  readonly blockNumber: number | null;
  readonly smartAccount: string | null;
  readonly pubKeyX: string | null;
  readonly pubKeyY: string | null;
  readonly registeredAt: string;
  readonly ambiguous?: true;
}

/** Why an identifier is not free. */
export type Unavailable = 'identifier_reserved' | 'identifier_taken';

/** An account as the chain has it. */
export interface AccountAnswer {
  readonly nonce: Hex;
  readonly did: Hex;
  readonly isActive: boolean;
  readonly pubKeyX: Hex;
  readonly pubKeyY: Hex;
  readonly kind: 1 | 2 | null;
  readonly factory: Hex | null;
  readonly keys:
    | readonly {
        readonly index: number;
        readonly x: Hex;
        readonly y: Hex;
        readonly addedAt: string | null;
        readonly label: string | null;
        readonly synced: boolean | null;
      }[]
    | null;
  readonly guardian: {
    readonly address: Hex;
    readonly delaySeconds: number;
    readonly commitment: Hex;
    readonly vetoes: number;
    readonly barredUntil: string | null;
  } | null;
  readonly recovery: {
    readonly id: number;
    readonly x: Hex;
    readonly y: Hex;
    readonly readyAt: string;
    readonly label: string | null;
  } | null;
}

/** What runs, and what it offers. */
export interface StatusAnswer {
  readonly chain: string;
  readonly chainId: number;
  readonly rpc: string | null;
  readonly database: 'connected' | 'unavailable';
  readonly version: string;
  /** The relying party of the passkeys. */
  readonly rpId: string;
  /** What people see of the service. */
  readonly brand: { readonly name: string };
  /** Whether the vault registers DIDs on-chain itself. */
  readonly relays: boolean;
  readonly enclave?: { readonly sha256: string };
}

/** The contracts' addresses, null for those that are not there. */
export interface ContractsAnswer {
  readonly chainId: number;
  readonly entryPoint: Hex | null;
  readonly didRegistry: Hex | null;
  readonly accountHelper: Hex | null;
  readonly sessionSBT: Hex | null;
  readonly hyperAuthFactory: Hex | null;
  readonly accountFactory2: Hex | null;
  readonly registrar: string;
  readonly guardian: Hex | null;
}

/** A call to the bundler, and its answer. */
export interface RpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: string | number | null;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** One of `result` and `error`. */
export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

/** What the vault's node shows of one nonce of an account. */
export interface OutcomeAnswer {
  readonly chainId: number;
  readonly entryPoint: string;
  readonly head: { readonly number: number; readonly time: number };
  readonly final: { readonly number: number; readonly time: number } | null;
  readonly spent: boolean;
  readonly spentFinal: boolean;
  readonly next: number;
  readonly operation: {
    readonly userOpHash: Hex;
    readonly txHash: Hex;
    readonly block: number;
    readonly success: boolean;
    readonly moved: boolean | null;
    readonly final: boolean;
  } | null;
}
