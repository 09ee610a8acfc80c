// The user operation by which an account registers its DID itself: for vaults that do not relay, and for handles. This
// file is loaded when it is needed.
import { utf8 } from '../bytes.ts';
import { keccak256 } from '../keccak.ts';
import { nonceOf } from '../payment-nonce.ts';
import { dataOf } from '../wallet/abi.ts';
import { type AccountKind, kindsOf, NoAccountError } from '../wallet/account.ts';
import { type Hex, toHex } from '../wallet/bytes.ts';
import { type Enclave, loadEnclave } from '../wallet/enclave.ts';
import { batchOf, type Operation } from '../wallet/operation.ts';
import { draftOf, FeeBoundError, type Standing, signOperation, withSponsor } from '../wallet/send.ts';
import { RefusedError } from '../wallet/vault.ts';
import { ABI_VERSION } from '../window.ts';
import { newKey, pause } from './call.ts';
import { fault, isPassing, loadPart, VaultClientError } from './error.ts';
import { refusedBy } from './passkeys.ts';
import type { Progress } from './progress.ts';
import type { RegistrationRun } from './registration-run.ts';
import type { JsonRpcOutcome } from './wire.ts';

type SentOperation = NonNullable<Progress['operation']>;

/** The account that registers, and its subject. */
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
/** How long to wait for a block: an operation that the bundler refused may have reached it by another way. */
const WAIT_MS = 120_000;
const DOUBT_MS = 5_000;
/** An operation that was sent so long ago, and is in no block, is signed again. */
const BLOCKS_MS = 60_000;

/** Has the account register its DID, and keeps the transaction that did. */
export async function registerOnChain(run: RegistrationRun, registering: Registering): Promise<void> {
  const { call, signal, step, keep, progress, invite } = run;
  const { identifier, channel } = progress();
  if (channel === 'handle') {
    const session = progress().session ?? newKey();
    // Kept before it goes out: its answer may be lost, and a second session of the same handle is refused.
    keep({ session });
    const held = { identifier, channel, did: registering.did, invite };
    await call('POST /api/sessions', held, { signal, idempotencyKey: session });
  }
  await step('operation');
  const txHash = await settle(run, registering).catch((error: unknown) => {
    // A nonce that is spent for nothing serves no second try.
    if (error instanceof VaultClientError && error.error === 'registration_failed') keep({ operation: undefined });
    throw error;
  });
  keep({ txHash });
}

/** The transaction of an earlier operation, or of a new one. */
async function settle(run: RegistrationRun, registering: Registering): Promise<string> {
  const { signal, keep, progress } = run;
  const { address } = registering;
  const { operation: earlier } = progress();
  const leftMs = earlier ? earlier.at + BLOCKS_MS - Date.now() : 0;
  const found = earlier && (await awaitOperation(run, address, earlier, Math.min(leftMs, BLOCKS_MS)));
  if (found !== undefined) return found;
  const nonce = earlier?.nonce ?? (await nonceOf(newKey()));
  try {
    const { operation, entryPoint, block } = await sign(run, registering, nonce);
    signal?.throwIfAborted();
    const sent = { nonce, since: earlier?.since ?? block, at: Date.now() };
    // Kept before it goes out: from here on it may settle, also if the page is closed.
    keep({ operation: sent });
    // A bundler's answer decides nothing: the chain shows what became of it.
    const doubt = await rpc(run, 'eth_sendUserOperation', [operation, entryPoint]).then(
      () => undefined,
      (error: unknown) => error,
    );
    const settled = await awaitOperation(run, address, sent, doubt ? DOUBT_MS : WAIT_MS);
    if (settled === undefined) throw doubt ?? fault('unreachable');
    return settled;
  } catch (error) {
    // An estimate is refused also where the earlier operation was mined meanwhile.
    const settled = earlier && error instanceof RefusedError && (await awaitOperation(run, address, earlier, DOUBT_MS));
    return settled || refuse(error, signal, (await run.info()).status.rpId);
  }
}

interface SignedOperation {
  readonly operation: Operation;
  readonly entryPoint: Hex;
  /** The newest block before it was signed. */
  readonly block: number;
}

/** Has the passkey sign the operation. Throws `PasskeyError`, `RefusedError`, `FeeBoundError`, `NoAccountError`. */
async function sign(run: RegistrationRun, registering: Registering, nonce: Hex): Promise<SignedOperation> {
  const { call, url, signal } = run;
  const { credentialId, x, y, address, kind } = registering;
  const [config, contracts, state, fees, enclave] = await Promise.all([
    call('GET /pay/config', {}, { signal }),
    call('GET /api/contracts', {}, { signal }),
    readState(run, address),
    call('GET /pay/fees', {}, { signal }),
    loadPart<Enclave>(loadEnclave(new URL(`/enclave.wasm?abi=${ABI_VERSION}`, url).href)),
  ]);
  const { entryPoint } = config;
  const registry = contracts.didRegistry;
  if (!entryPoint || !registry || !kindsOf(config).includes(kind)) throw fault('not_offered');
  const account = { credentialId, address, kind, x, y, name: '' };
  const callData = batchOf([{ target: registry, data: registrationOf(registering) }]);
  const standing: Standing = { state, fees, at: Date.now() };
  const gas = {
    sponsor: (operation: Operation) => rpc(run, 'pm_sponsorUserOperation', [operation, entryPoint]),
    estimate: (operation: Operation) => rpc(run, 'eth_estimateUserOperationGas', [operation, entryPoint]),
  };
  const draft = draftOf(account, standing, { callData, nonce, config });
  const priced = await withSponsor(draft, entryPoint, config, gas);
  const { operation } = await signOperation(account, priced, { config, enclave, entryPoint, standing, signal });
  return { operation, entryPoint, block: fees.block };
}

/** The call of the registry. */
function registrationOf({ did, aliasHash }: Registering): Hex {
  return dataOf(keccak256, REGISTER, [toHex(keccak256(utf8(did))), aliasHash, { bytes: '0x' }]);
}

async function readState({ call, signal }: RegistrationRun, account: string): Promise<Standing['state']> {
  const { kind, keys, factory, pubKeyX, pubKeyY } = await call('GET /api/accounts/state', { account }, { signal });
  const first = BigInt(pubKeyX) === 0n ? [] : [{ index: 0, x: pubKeyX, y: pubKeyY }];
  const about = { isDeployed: kind !== null, isOwn: factory !== null, kind: kind ?? 1 };
  return { ...about, keys: kind === 2 ? (keys ?? []) : first };
}

/**
 * The transaction of the nonce's operation; undefined if there is none after `ms`. Throws `registration_failed`, and
 * the error of the last look: nobody signs again because a node was silent.
 */
async function awaitOperation(
  { call, signal }: RegistrationRun,
  account: Hex,
  { nonce, since }: SentOperation,
  ms: number,
): Promise<string | undefined> {
  const end = Date.now() + ms;
  for (;;) {
    const asked = { account, nonce, since: String(since) };
    const isLast = Date.now() >= end;
    const outcome = await call('GET /pay/outcome', asked, { signal }).catch((error: unknown) => {
      if (isLast || !isPassing(error)) throw error;
      return undefined;
    });
    const operation = outcome?.operation;
    if (operation?.success) return operation.txHash;
    if (operation) throw fault('registration_failed');
    if (isLast) return undefined;
    await pause(LOOK_MS, signal);
  }
}

async function rpc({ call, signal }: RegistrationRun, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await call('POST /api/bundler', { jsonrpc: '2.0', id: 1, method, params }, { signal });
  // One call, one outcome.
  const outcome = answer as JsonRpcOutcome;
  if ('result' in outcome) return outcome.result;
  const { message, data = {} } = outcome.error;
  const { kind = 'unknown', aa } = data;
  throw new RefusedError(message, kind, typeof aa === 'string' ? aa : undefined);
}

/** Throws the client's own error for a refusal by the bundler, the fee's bound or the person; any other as it is. */
function refuse(error: unknown, signal: AbortSignal | undefined, rpId: string): never {
  const refused = (hint: string, reason: string) => fault('operation_refused', { hint, reason, cause: error });
  if (error instanceof RefusedError) throw refused(error.message, error.kind);
  if (error instanceof FeeBoundError) throw refused(error.message, 'fee');
  if (error instanceof NoAccountError) throw refused('The account has another passkey.', 'no_account');
  return refusedBy(signal, rpId)(error);
}
