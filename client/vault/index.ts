import type { ApprovalAnswer, ApprovalOptions, ApprovalQuestion, ApprovalVerdict, ApproverKey } from '../approvals.ts';
import type { AskNode } from '../payment-node.ts';
import type { AuthorizationReceipt, PaymentOrder, PaymentReceipt, VerdictOn, VerifyOptions } from '../payments.ts';
import type { TransferAnswer } from '../transfer-authorization.ts';
import { type ApproveOptions, type ApproveRequest, approve, approved } from './approve.ts';
import { demandUrl, subjectOf } from './arguments.ts';
import type { AuthorizedOrder, AuthorizeOptions, PaidRequest } from './authorization.ts';
import { type Call, type CallOptions, createCall, type VaultEndpoint } from './call.ts';
import type { CredentialOptions, HeldCredential, KeptCredential } from './credential.ts';
import { loadPart } from './error.ts';
import type { EventOptions, EventToken, VaultEvent } from './events.ts';
import { type Payer, type PayOptions, type PayOrder, type PayReceipt, pay, returned } from './pay.ts';
import type { PaymentSigner } from './payment-signer.ts';
import { type Keeper, nameOf, openMemory, type Progress, type Subject } from './progress.ts';
import { type RegisterOptions, register } from './register.ts';
import type { SignedIn, SignInOptions } from './sign-in.ts';
import type { Registration } from './submit.ts';
import { createVaultInfo, type VaultInfo } from './vault-info.ts';
import type { InputOf, OperationName } from './wire.ts';

export type { ApprovalAnswer, ApprovalOptions, ApprovalQuestion, ApprovalVerdict, ApproverKey } from '../approvals.ts';
export type { TransferAnswer, TransferAuthorization } from '../transfer-authorization.ts';
export type { ApproveOptions, ApproveRequest, ApproveReturn } from './approve.ts';
export type { AuthorizedOrder, AuthorizeOptions, PaidRequest } from './authorization.ts';
export type { CallOptions } from './call.ts';
export type {
  CredentialOptions,
  HeldCredential,
  KeptCredential,
  PresentOptions,
} from './credential.ts';
export { VaultClientError } from './error.ts';
export type { EventOptions, EventToken, VaultEvent } from './events.ts';
export type { Payer, PayOptions, PayOrder, PayReceipt, PayReturn } from './pay.ts';
export type { PaymentSigner, TypedData } from './payment-signer.ts';
export type { Keeper, Progress, Subject } from './progress.ts';
export type { RegisterOptions } from './register.ts';
export type { AskCode, CodeAnswer, CodeRequest, RegisterStep } from './registration-run.ts';
export type { SignedIn, SignInOptions } from './sign-in.ts';
export type { Registration } from './submit.ts';
export * from './wire.ts';

/** Where a vault is, and where the client keeps a registration that was begun. */
export interface ClientOptions extends VaultEndpoint {
  /** `localStorage`, if absent; null keeps nothing. */
  readonly storage?: Keeper | null;
}

/** A client of one vault. All its calls throw `VaultClientError`. */
export type VaultClient = ReturnType<typeof createClient>;

/** Makes a client. Nothing is asked before the first call. Throws a `TypeError` for a malformed `url`. */
export function createClient(options: ClientOptions) {
  const { url, storage } = options;
  demandUrl(url);
  const call = createCall(options);
  const info = createVaultInfo(call);
  const memory = openMemory(url, storage);
  /** A second click, or a form that is sent twice, waits for the first. */
  const running = new Map<string, Promise<Registration>>();
  /** The last person who signed up or in. */
  let payer: Payer | undefined;
  const isPayer = <T extends SignedIn | Registration>(person: T): T => {
    const { credentialId, smartAccount, pubKeyX, pubKeyY } = person;
    // A payer without a known account makes no hint.
    payer = { credentialId, account: smartAccount as string, pubKeyX, pubKeyY };
    return person;
  };
  const of =
    <Name extends OperationName>(name: Name) =>
    (input?: InputOf<Name>, more?: CallOptions) =>
      call(name, input, more);
  return {
    /** Any operation, by method and path. */
    call,
    status: of('GET /api/status'),
    contracts: of('GET /api/contracts'),
    verify: {
      send: of('POST /api/verify/send'),
      check: of('POST /api/verify/check'),
      status: of('GET /api/verify/status'),
    },
    sessions: {
      create: of('POST /api/sessions'),
      check: of('GET /api/sessions/check'),
      status: of('GET /api/sessions/status'),
    },
    dids: { register: of('POST /api/dids'), lookup: of('GET /api/dids/lookup') },
    accounts: { predict: of('GET /api/accounts/predict'), state: of('GET /api/accounts/state') },
    balance: of('GET /api/balance'),

    /** Registers a person, or goes on where an earlier call was left. */
    register: async (given: RegisterOptions): Promise<Registration> => {
      const name = nameOf(subjectOf(given));
      const made = running.get(name) ?? register({ call, memory, info, url }, given).then(isPayer);
      running.set(name, made);
      return made.finally(() => running.delete(name));
    },
    /** The registration that was begun here and is not confirmed; `register` with its identifier goes on. */
    pending: (): Progress | undefined => memory.read(),
    /** Forgets it, or all that were begun here. */
    forget: (subject?: Subject): void => {
      payer = undefined;
      memory.forget(subject);
    },
    /** The person of a passkey. */
    signIn: async (given?: SignInOptions): Promise<SignedIn> =>
      isPayer(await (await loadPart(import('./sign-in.ts'))).signIn(call, info, given)),
    /** A credential of an address for a new key, by a code or the passkey; or one that the page has kept. */
    credential: async (given: CredentialOptions | KeptCredential): Promise<HeldCredential> =>
      (await loadPart(import('./credential.ts'))).credential({ call, info, url, person: payer }, given),
    ...asksOf(url, info, () => payer),
    returned,
    approved,
    ...checksOf(url, call),
    /** The vault's events as they happen. */
    async *events(token: EventToken, given?: EventOptions): AsyncGenerator<VaultEvent, void, undefined> {
      yield* (await loadPart(import('./events.ts'))).events(options, token, given);
    },
  };
}

/** What the person is asked on the vault's page. Call all of it from a click. */
function asksOf(url: string, info: VaultInfo, payer: () => Payer | undefined) {
  return {
    /** Shows an order, or what a 402 asks for. */
    pay: ((order: PayOrder, given?: PayOptions & Partial<AuthorizeOptions>) => {
      const options = { payer: payer(), ...given };
      if (!options.by) return pay(url, info, order, options);
      const asked = loadAuthorization().then((part) => part.asked(order, info, options));
      return approve(url, asked, options);
    }) as Pay,
    /** A signer for libraries of x402: each signature is a question to the person. */
    signer: async (given?: Pick<ApproveOptions, 'person'>): Promise<PaymentSigner> => {
      const options = { person: payer(), ...given };
      return (await loadAuthorization()).signer(url, info, options, approve);
    },
    /** Shows a text, which the person's passkey signs. */
    approve: (request: ApproveRequest, given?: ApproveOptions): Promise<ApprovalAnswer> => {
      const options = { person: payer(), ...given };
      const asked = loadApprovals().then((part) => ({
        shown: { ...part.requestOf(request), person: options.person },
      }));
      return approve(url, asked, options);
    },
  };
}

/** The members of both kinds of receipts, without their chain: the order says which it is. */
type Hints = Partial<Omit<PaymentReceipt, 'by'>> & { readonly by?: 'authorization' };

/** What servers ask. */
function checksOf(url: string, call: Call) {
  return {
    /** Whether an order was paid since it was made: by your own node, else by the vault's word. */
    verifyPayment: async <Receipt extends PaymentReceipt | AuthorizationReceipt>(
      hints: Receipt,
      order: PaymentOrder,
      node?: string | URL | AskNode | null,
      given?: Pick<VerifyOptions, 'since'>,
    ): Promise<VerdictOn<Receipt>> => {
      const { by, userOpHash, txHash, account } = (hints ?? {}) as Hints;
      const receipt = { by, userOpHash, txHash, account };
      if (node) return (await loadPart(import('../payments.ts'))).verifyPayment(receipt as Receipt, order, node, given);
      return call('GET /pay/verify', { ...order, ...receipt, ...given }) as Promise<VerdictOn<Receipt>>;
    },
    /** Whether somebody approved what you asked: offline by their known key, else by your own node. */
    verifyApproval: async (
      answer: ApprovalAnswer,
      question: Omit<ApprovalQuestion, 'vault'> & Partial<Pick<ApprovalQuestion, 'vault'>>,
      known: ApproverKey | string | URL | AskNode,
      given?: ApprovalOptions,
    ): Promise<ApprovalVerdict> =>
      (await loadApprovals()).verifyApproval(answer, { vault: url, ...question }, known, given),
  };
}

/** By an authorization of USDC, or in the way that is best here. */
interface Pay {
  (order: PayOrder, given?: PayOptions): Promise<PayReceipt>;
  (response: Response, given: AuthorizeOptions): Promise<PaidRequest>;
  (order: AuthorizedOrder, given: AuthorizeOptions): Promise<TransferAnswer>;
}

function loadAuthorization() {
  return loadPart(import('./authorization.ts'));
}

function loadApprovals() {
  return loadPart(import('../approvals.ts'));
}
