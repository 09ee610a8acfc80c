// What the vault's operations take and answer, by method and path (docs/http.md). Types alone.
import type { PaymentVerdict } from '../payments.ts';
import type { ProofParts } from '../wallet/proof.ts';
import type { Config, Fees } from '../wallet/vault.ts';
import type {
  AccountAnswer,
  Attestation,
  Channel,
  ContractsAnswer,
  Hex,
  Key,
  OutcomeAnswer,
  Provable,
  RegistrationInput,
  RegistrationRow,
  RpcAnswer,
  RpcRequest,
  StatusAnswer,
  Subject,
  Unavailable,
} from './wire-parts.ts';

export * from './wire-parts.ts';

/** Input and answer of an operation. */
interface Operation<Input, Answer> {
  readonly input: Input;
  readonly answer: Answer;
}

type Nothing = Readonly<Record<never, never>>;
type Members = Readonly<Record<string, unknown>>;
type Found<Row> = { readonly found: false } | ({ readonly found: true } & Row);

/** What a person does: by method and path. */
export interface PersonOperations {
  'POST /api/verify/send': Operation<
    Provable & { readonly pass?: string; readonly bind?: boolean; readonly lang?: string },
    {
      readonly ok: true;
      readonly channel: 'email' | 'sms';
      readonly expires_in: number;
      readonly retry_after: number;
      readonly challenge: string;
    }
  >;
  'POST /api/verify/check': Operation<
    Provable & { readonly code: string; readonly challenge?: string },
    | { readonly ok: true; readonly verified: true; readonly attestation: Attestation }
    | {
        readonly ok: true;
        readonly verified: false;
        readonly message: string;
        readonly attempts_remaining?: number;
      }
  >;
  'GET /api/verify/status': Operation<
    Provable,
    Provable & { readonly verified: boolean; readonly verifiedAt: string | null }
  >;
  'POST /api/sessions': Operation<
    Subject & { readonly did: string },
    Subject & { readonly ok: true; readonly did: string }
  >;
  'GET /api/sessions/status': Operation<
    Nothing,
    { readonly ip_registrations: number; readonly ip_limit: number; readonly total_registrations: number }
  >;
  'GET /api/sessions/check': Operation<
    { readonly identifier: string; readonly channel?: Channel },
    Subject & { readonly available: boolean; readonly reason?: Unavailable }
  >;
  'POST /api/dids': Operation<
    RegistrationInput,
    Subject & { readonly ok: true; readonly txHash: string; readonly status?: 'submitted' | 'confirmed' }
  >;
  'GET /api/dids/lookup': Operation<{ readonly credentialId: string } & Partial<Key>, RegistrationRow>;
  'GET /api/aliases/check': Operation<
    { readonly alias: string },
    { readonly alias: string; readonly available: boolean; readonly aliasHash: Hex; readonly reason?: Unavailable }
  >;
  'GET /api/accounts/predict': Operation<
    Key & { readonly salt?: string; readonly kind?: '1' | '2' },
    { readonly address: Hex }
  >;
  'GET /api/accounts/state': Operation<{ readonly account: string }, AccountAnswer>;
  'POST /api/accounts/joins': Operation<
    { readonly id: string; readonly smartAccount: string },
    { readonly id: string; readonly expiresAt: string }
  >;
  'POST /api/accounts/joins/keys': Operation<
    Key & { readonly id: string; readonly label: string },
    { readonly smartAccount: Hex; readonly expiresAt: string; readonly key: { x: Hex; y: Hex; label: Hex } }
  >;
  'GET /api/accounts/joins': Operation<
    { readonly id: string },
    { readonly smartAccount: Hex; readonly expiresAt: string; readonly key: { x: Hex; y: Hex; label: Hex } | null }
  >;
  'GET /api/balance': Operation<
    { readonly account: string; readonly token: string; readonly chainId: number },
    { readonly balance: string; readonly decimals: number; readonly symbol: string; readonly formatted: string }
  >;
  'POST /api/bundler': Operation<RpcRequest, RpcAnswer>;
  'GET /api/status': Operation<Nothing, StatusAnswer>;
  'GET /healthz': Operation<Nothing, Members>;
  'GET /readyz': Operation<Nothing, Members>;
  'GET /api/contracts': Operation<Nothing, ContractsAnswer>;
}

/** Recoveries of accounts that this vault guards. */
export interface RecoveryOperations {
  'POST /api/recoveries/commitments': Operation<
    { readonly attestation: Attestation; readonly smartAccount: string },
    { readonly guardian: Hex; readonly delaySecondsMin: number; readonly commitment: Hex }
  >;
  'POST /api/recoveries/accounts': Operation<
    { readonly attestation: Attestation },
    { readonly accounts: readonly Hex[] }
  >;
  'POST /api/recoveries': Operation<
    Key & {
      readonly attestation: Attestation;
      readonly smartAccount: string;
      readonly credentialId: string;
      readonly proof: ProofParts;
      readonly proofExpiresAt: number;
      readonly label?: string;
    },
    {
      readonly ok: true;
      readonly status: 'submitted' | 'proposed';
      readonly smartAccount: Hex;
      readonly txHash: string | null;
      readonly readyAt: string | null;
    }
  >;
  'GET /api/recoveries/status': Operation<
    { readonly smartAccount: string },
    {
      readonly smartAccount: Hex;
      readonly guarded: boolean;
      readonly barredUntil: string | null;
      readonly recovery: (Members & { readonly status: string; readonly readyAt: string | null }) | null;
    }
  >;
  'POST /api/recoveries/vetoes': Operation<
    { readonly smartAccount: string; readonly signature: string },
    { readonly ok: true; readonly status: 'submitted' | 'vetoed'; readonly txHash: string | null }
  >;
  'POST /api/recoveries/cancellations': Operation<
    { readonly attestation: Attestation; readonly smartAccount: string },
    { readonly ok: true; readonly status: 'submitted' }
  >;
  'POST /api/recoveries/contacts': Operation<
    Key & {
      readonly smartAccount: string;
      readonly proof: ProofParts;
      readonly proofExpiresAt: number;
      readonly attestation?: Attestation;
    },
    { readonly ok: true; readonly contact: string | null }
  >;
}

/** What the chain shows: the index and the payments. */
export interface ChainOperations {
  'GET /api/indexer/aliases': Operation<{ readonly hash: string }, Found<Members>>;
  'GET /api/indexer/dids': Operation<{ readonly hash: string }, Found<Members>>;
  'GET /api/indexer/accounts': Operation<{ readonly address: string }, Found<Members>>;
  'GET /api/indexer/stats': Operation<Nothing, Members>;
  'GET /api/indexer/health': Operation<Nothing, { readonly ok: boolean; readonly chain: number }>;
  'GET /pay/config': Operation<{ readonly app?: string }, Config>;
  'GET /pay/token': Operation<{ readonly token: string; readonly account?: string }, Members>;
  'GET /pay/fees': Operation<Nothing, Fees>;
  'GET /pay/outcome': Operation<{ readonly account: string; readonly nonce: string } & Members, OutcomeAnswer>;
  'GET /pay/verify': Operation<{ readonly origin: string; readonly id: string } & Members, PaymentVerdict>;
}

/** What an operator does, with the operator's secret. */
export interface OperatorOperations {
  'POST /v1/console/token': Operation<
    { readonly app: string; readonly channel?: string },
    { readonly token: string; readonly expires_at: string; readonly cid: string }
  >;
  'POST /v1/console/revoke': Operation<
    { readonly cid: string },
    { readonly ok: true; readonly cid: string; readonly revoked: boolean }
  >;
  'GET /v1/console/registrations': Operation<
    { readonly identifier: string } | { readonly credentialId: string } | { readonly did: string },
    { readonly registrations: readonly Members[] }
  >;
  'POST /v1/console/registrations/undo': Operation<{ readonly id: number }, Members & { readonly ok: true }>;
  'GET /v1/console/recoveries': Operation<
    { readonly account?: string; readonly open?: 'true' },
    { readonly recoveries: readonly Members[] }
  >;
  'POST /v1/console/recoveries/cancel': Operation<{ readonly account: string }, { readonly ok: true }>;
  'GET /v1/console/limits': Operation<
    { readonly kind?: string; readonly key?: string },
    { readonly kinds: readonly string[]; readonly limits: readonly Members[] }
  >;
  'POST /v1/console/limits/clear': Operation<
    { readonly kind: string; readonly key?: string },
    Members & { readonly ok: true; readonly cleared: number }
  >;
  'GET /v1/console/overview': Operation<Nothing, Members>;
  'GET /v1/console/webhooks': Operation<
    { readonly status?: 'queued' | 'delivered' | 'dead'; readonly before?: string },
    { readonly webhooks: readonly Members[] }
  >;
  'POST /v1/console/webhooks/resend': Operation<
    { readonly id: number },
    { readonly ok: true; readonly webhook: string }
  >;
}

/** Every operation that takes and answers JSON, by method and path. */
export interface Operations extends PersonOperations, RecoveryOperations, ChainOperations, OperatorOperations {}

/** The name of an operation, such as `POST /api/verify/send`. */
export type OperationName = keyof Operations;
/** What an operation takes. */
export type InputOf<Name extends OperationName> = Operations[Name]['input'];
/** What an operation answers. */
export type AnswerOf<Name extends OperationName> = Operations[Name]['answer'];
