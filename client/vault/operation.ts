// The user operation by which an account registers its DID itself: for vaults that do not relay, and for handles. This
// file is loaded when it is needed. What it finds wrong it returns, so that the client throws its own errors.
import { utf8 } from '../bytes.ts';
import { keccak256 } from '../keccak.ts';
import { nonceOf } from '../payment-nonce.ts';
import { dataOf } from '../wallet/abi.ts';
import { type AccountKind, kindsOf } from '../wallet/account.ts';
import { type Hex, toHex } from '../wallet/bytes.ts';
import { loadEnclave } from '../wallet/enclave.ts';
import { batchOf, type Operation } from '../wallet/operation.ts';
import { draftOf, FeeBoundError, type Standing, signOperation, withSponsor } from '../wallet/send.ts';
import { RefusedError } from '../wallet/vault.ts';
import { ABI_VERSION } from '../window.ts';
import type { Call, Pause } from './call.ts';
import type { ClientFault, ErrorParts } from './error.ts';
import type { JsonRpcOutcome } from './wire.ts';

/** An operation that was signed: its nonce, and the block from which it is looked for. */
export interface SentOperation {
  readonly nonce: Hex;
  readonly since: number;
}

/** What it works with. `sent` is what an earlier call signed, which may have settled since. */
export interface OperationWork {
  readonly call: Call;
  readonly pause: Pause;
  readonly url: string;
  readonly signal: AbortSignal | undefined;
  readonly sent: SentOperation | undefined;
  readonly onSigned: (sent: SentOperation) => void;
}

/** The transaction that carries it, or why there is none. */
export type Settled = { readonly txHash: string } | ({ readonly fault: ClientFault } & ErrorParts);

/** The account that registers, and what. */
export interface Registering {
  readonly credentialId: string;
  readonly x: Hex;
  readonly y: Hex;
  readonly address: Hex;
  readonly kind: AccountKind;
  readonly did: string;
  readonly aliasHash: Hex;
}

const REGISTER = 'register(bytes32,bytes32,string)';
const LOOK_MS = 500;
/** How long a block is waited for; what the bundler refused may have got there by another way. */
const WAIT_MS = 120_000;
const DOUBT_MS = 5_000;

/** Has the account register its DID, and waits for the block. Throws `PasskeyError` and what `call` throws. */
export async function registerOnChain(work: OperationWork, registering: Registering): Promise<Settled> {
  const { call, url } = work;
  const { address, kind } = registering;
  const earlier = work.sent && (await awaitOperation(work, address, work.sent, 0));
  if (earlier) return earlier;
  const [config, contracts, state, fees, enclave] = await Promise.all([
    call('GET /pay/config'),
    call('GET /api/contracts'),
    readState(call, address),
    call('GET /pay/fees'),
    loadEnclave(new URL(`/enclave.wasm?abi=${ABI_VERSION}`, url).href),
  ]);
  const { entryPoint } = config;
  const registry = contracts.didRegistry;
  if (!entryPoint || !registry || !kindsOf(config).includes(kind)) return { fault: 'not_offered' };
  const { credentialId, x, y } = registering;
  const account = { credentialId, address, kind, x, y, name: '' };
  const callData = batchOf([{ target: registry, data: registrationOf(registering) }]);
  const nonce = work.sent?.nonce ?? (await nonceOf(crypto.randomUUID()));
  const standing: Standing = { state, fees, at: Date.now() };
  const gas = {
    sponsor: (operation: Operation) => rpc(call, 'pm_sponsorUserOperation', [operation, entryPoint]),
    estimate: (operation: Operation) => rpc(call, 'eth_estimateUserOperationGas', [operation, entryPoint]),
  };
  try {
    const draft = draftOf(account, standing, { callData, nonce, config });
    const priced = await withSponsor(draft, entryPoint, config, gas);
    const signing = { config, enclave, entryPoint, standing };
    const { operation } = await signOperation(account, priced, signing);
    const sent = { nonce, since: work.sent?.since ?? fees.block };
    // Kept before it goes out: from here on it may settle, also if the page is closed.
    work.onSigned(sent);
    // A bundler's answer decides nothing: the chain shows what became of it.
    const doubt = await rpc(call, 'eth_sendUserOperation', [operation, entryPoint]).then(() => undefined, faultOf);
    const settled = await awaitOperation(work, address, sent, doubt ? DOUBT_MS : WAIT_MS);
    return settled ?? doubt ?? { fault: 'unreachable' };
  } catch (error) {
    return faultOf(error);
  }
}

/** The call of the registry. */
function registrationOf({ did, aliasHash }: Registering): Hex {
  return dataOf(keccak256, REGISTER, [toHex(keccak256(utf8(did))), aliasHash, { bytes: '0x' }]);
}

async function readState(call: Call, account: string): Promise<Standing['state']> {
  const { kind, keys, factory, pubKeyX, pubKeyY } = await call('GET /api/accounts/state', { account });
  const first = BigInt(pubKeyX) === 0n ? [] : [{ index: 0, x: pubKeyX, y: pubKeyY }];
  const about = { isDeployed: kind !== null, isOwn: factory !== null, kind: kind ?? 1 };
  return { ...about, keys: kind === 2 ? (keys ?? []) : first };
}

/** What became of the nonce's operation; undefined after `ms`. */
async function awaitOperation(
  { call, pause, signal }: OperationWork,
  account: Hex,
  { nonce, since }: SentOperation,
  ms: number,
): Promise<Settled | undefined> {
  const end = Date.now() + ms;
  for (;;) {
    const asked = { account, nonce, since: String(since) };
    const outcome = await call('GET /pay/outcome', asked, { signal }).catch(() => undefined);
    const operation = outcome?.operation;
    if (operation) return operation.success ? { txHash: operation.txHash } : { fault: 'registration_failed' };
    if (Date.now() >= end) return undefined;
    await pause(LOOK_MS, signal);
  }
}

async function rpc(call: Call, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await call('POST /api/bundler', { jsonrpc: '2.0', id: 1, method, params });
  // One call, one outcome.
  const outcome = answer as JsonRpcOutcome;
  if ('result' in outcome) return outcome.result;
  const { message, data = {} } = outcome.error;
  const { kind = 'unknown', aa } = data;
  throw new RefusedError(message, kind, typeof aa === 'string' ? aa : undefined);
}

/** Throws what is no refusal of the bundler or of the fee's bound. */
function faultOf(error: unknown): Settled {
  if (error instanceof RefusedError) return { fault: 'operation_refused', hint: error.message, reason: error.kind };
  if (error instanceof FeeBoundError) return { fault: 'operation_refused', hint: error.message, reason: 'fee' };
  throw error;
}
