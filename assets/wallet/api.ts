import type { Account, AccountKind, AccountState, OwnerKey } from '../../client/wallet/account.ts';
import type { SignedBytes } from '../../client/wallet/assertion-keys.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import { API_MS } from '../../client/wallet/constants.ts';
import type { Operation } from '../../client/wallet/operation.ts';
import type { PublicKey } from '../../client/wallet/recover.ts';
import type { GasSource, Standing } from '../../client/wallet/send.ts';
import { type Config, type Fees, RefusedError, UnreachableError } from '../../client/wallet/vault.ts';
import { appOfPage } from '../words/words.ts';
import type { Outcome } from './judge.ts';

/** A token as the chain describes it. An unlisted token chose its symbol itself. */
export interface Token {
  readonly symbol: string;
  readonly decimals: number;
  readonly listed: boolean;
  readonly balance: bigint;
  /** For `native`: the account's deposit at the EntryPoint, from which fees are taken first. */
  readonly deposit: bigint;
}

/**
 * Whether a bundler refused an operation because it has that one. Other refusals have these words too, such as `AA10
 * sender already constructed` and `unknown …`.
 */
export function isHad({ message }: RefusedError): boolean {
  return /\balready known\b|\balready (?:present )?in (?:the )?mempool\b/i.test(message);
}

/** Reads the chain's settings, in the brand of the page's app. Throws `UnreachableError`, as all calls here do. */
export function readConfig(): Promise<Config> {
  return get('/pay/config', appOfPage());
}

/** Reads a token and the account's balance. Throws `RefusedError` if there is no token at the address. */
export async function readToken(token: string, account: string): Promise<Token> {
  const found = await get<Omit<Token, 'balance' | 'deposit'> & { balance: string; deposit?: string }>('/pay/token', {
    token,
    account,
  });
  return { ...found, balance: BigInt(found.balance), deposit: BigInt(found.deposit ?? '0') };
}

/** Fees and time of the next block. */
export function readFees(): Promise<Fees> {
  return get('/pay/fees', {});
}

/** The address of a key's account of this kind, deployed or not, in lower case. */
export async function predictAddress({ x, y }: PublicKey, kind: AccountKind): Promise<Hex> {
  const query = { pubKeyX: x, pubKeyY: y, ...(kind === 1 ? {} : { kind: String(kind) }) };
  const { address } = await get<{ address: string }>('/api/accounts/predict', query);
  return address.toLowerCase() as Hex;
}

/** An account as the chain has it. */
export async function readState(account: string): Promise<AccountState> {
  const { kind, keys, factory, pubKeyX, pubKeyY } = await get<{
    kind: AccountKind | null;
    keys: readonly OwnerKey[] | null;
    factory: Hex | null;
    pubKeyX: Hex;
    pubKeyY: Hex;
  }>('/api/accounts/state', { account });
  const about = { isDeployed: kind !== null, isOwn: factory !== null, kind: kind ?? 1 };
  const first = BigInt(pubKeyX) === 0n ? [] : [{ index: 0, x: pubKeyX, y: pubKeyY }];
  return { ...about, keys: kind === 2 ? (keys ?? []) : first };
}

/** Reads the state that an operation of the account depends on. Throws `UnreachableError`. */
export async function readStanding({ address }: Pick<Account, 'address'>): Promise<Standing> {
  const [state, fees] = await Promise.all([readState(address), readFees()]);
  return { state, fees, at: Date.now() };
}

/** The vault's record of a passkey with a key. It may be false, and the key need not exist. */
export interface LookedUp {
  /**
   * The account that it proved its registration for, in lower case. Anybody can register the credential id without
   * proof, for an account to which they added this key.
   */
  readonly account?: Hex;
  /** The assertion that it signed to register, to be verified. */
  readonly signed?: SignedText;
}

/** An assertion without its client data, base64url. */
export type SignedText = Readonly<Record<keyof SignedBytes, string>>;

/** Looks a passkey up by one of the keys that it may have. */
export async function lookUp(credentialId: string, { x, y }: PublicKey): Promise<LookedUp> {
  const query = { credentialId, pubKeyX: x, pubKeyY: y };
  const found = await get<DidRecord>('/api/dids/lookup', query).catch((error) => {
    if (error instanceof RefusedError) return undefined;
    throw error;
  });
  if (!found) return {};
  const { smartAccount, proven, pubKeyX, signed } = found;
  const isProven = proven && smartAccount !== null && BigInt(pubKeyX ?? '0x0') === BigInt(x);
  return {
    ...(isProven ? { account: smartAccount.toLowerCase() as Hex } : {}),
    ...(signed ? { signed } : {}),
  };
}

interface DidRecord {
  readonly smartAccount: string | null;
  readonly proven: boolean;
  readonly pubKeyX: Hex | null;
  readonly signed?: SignedText;
}

/** How the sponsor is asked to pay for an operation, and the bundler to estimate its gas. */
export const gas: GasSource = {
  sponsor: (operation, entryPoint) => bundler('pm_sponsorUserOperation', [operation, entryPoint]),
  estimate: (operation, entryPoint) => bundler('eth_estimateUserOperationGas', [operation, entryPoint]),
};

/** Sends a signed operation. Throws `RefusedError` if the bundler refuses it. */
export async function send(operation: Operation, entryPoint: string): Promise<void> {
  await bundler('eth_sendUserOperation', [operation, entryPoint]);
}

/** Asks what became of an account's nonce; `since` is the block from which the operation is looked for. */
export function readOutcome(asked: Asked): Promise<Outcome> {
  return get('/pay/outcome', { ...asked, since: String(asked.since) });
}

/** An operation to look for. `to`, `token` and `amount` say what it should move; `hint` is a hash that it may have. */
export interface Asked {
  readonly account: Hex;
  readonly nonce: Hex;
  readonly since: number;
  readonly to?: string;
  readonly token?: string;
  readonly amount?: string;
  readonly hint?: Hex;
}

async function bundler(method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await ask('/api/bundler', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const answer = (await response.json().catch(() => ({}))) as {
    readonly result?: unknown;
    readonly error?: { readonly message?: string; readonly data?: { readonly kind?: string; readonly aa?: string } };
  };
  // Only a JSON-RPC error is a no; any other failure, and some kinds of error, leave open what became of the call.
  if (typeof answer.error === 'object' && response.status < 500) {
    const { message = '', data = {} } = answer.error;
    if (data.kind === 'unanswered' || data.kind === 'unavailable') throw new UnreachableError(`${method}: ${message}`);
    throw new RefusedError(message, data.kind ?? 'unknown', data.aa);
  }
  if (!response.ok || answer.result === undefined) throw new UnreachableError(`${method}: ${response.status}`);
  return answer.result;
}

async function get<T>(path: string, query: Readonly<Record<string, string>>): Promise<T> {
  const response = await ask(`${path}?${new URLSearchParams(query)}`);
  if (response.ok) return response.json() as Promise<T>;
  const { error = '' } = (await response.json().catch(() => ({}))) as { error?: string };
  if (response.status >= 500 || response.status === 429) throw new UnreachableError(`${path}: ${error}`);
  throw new RefusedError(error, 'refused');
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: 'omit', signal: AbortSignal.timeout(API_MS) });
  } catch (cause) {
    throw new UnreachableError(path, { cause });
  }
}
