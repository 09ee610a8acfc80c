// A vault for the confirm page whose answers were recorded, so that a test says what the chain and the bundler do.
import { createHash } from 'node:crypto';
import type { Hex } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import english from '../../../assets/words/en/pay.json';
import { readRpcError } from '../../../lib/bundler/errors.ts';
import { operationHash, type SmartAccount } from '../../../scripts/dev-stack/operation.ts';
import { USDC } from '../../../scripts/dev-stack/usdc.ts';
import answers from '../../../scripts/openapi/recorded.json';
import type { WorldTime } from '../hostile/time.ts';
import { type OutcomeName, outcomeOf } from './outcomes.ts';

/** What the bundler answers: a result, an error in its own words, or nothing that can be read. */
export type BundlerAnswer = { readonly result: unknown } | { readonly error: object } | 'lost';

/** An operation that the bundler was sent. */
export interface Sent {
  readonly operation: Readonly<Record<string, string>>;
  readonly userOpHash: Hex.Hex;
  /** The last second in which it can be included; what accounts of the first kind sign has none. */
  readonly end: number;
}

/** A token as its contract describes it, and what accounts have of it. */
interface TestToken {
  readonly symbol: string;
  readonly decimals: number;
  readonly listed: boolean;
  readonly balances: Map<string, bigint>;
}

/** The vault, and what a test changes of it. */
export interface RecordedVault {
  /** Answers a page. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** Mistakes of this stand-in and of what a test gave it, which to a page look like a network that is away. */
  readonly faults: unknown[];
  /** What was asked for, in order. */
  readonly asked: URL[];
  /** What the bundler was sent, in order, whatever it answered. */
  readonly sent: Sent[];
  /** How each payment stands. Without it: what the bundler took is in a block, all else is open. */
  shows: OutcomeName | undefined;
  /** Which of the operations sent for a nonce the chain shows; the newest where it is undefined. */
  included: Hex.Hex | undefined;
  /** What the bundler says to a method; undefined where it does as usual. */
  bundler: ((method: string, params: readonly unknown[]) => BundlerAnswer | undefined) | undefined;
  /** The bundler answers each operation by this error, and does not have it. */
  refuse(code: number, message: string): void;
  /** Paths that are not answered. */
  away: readonly string[];
  readonly tokens: Map<string, TestToken>;
  /** The accounts that are on the chain, with their keys. */
  readonly accounts: Map<string, Readonly<Record<string, unknown>>>;
  /** Puts the account of a key on the chain. */
  deploy(account: string): void;
  /** Members of `/pay/config` and `/pay/fees` that are otherwise. */
  config: Readonly<Record<string, unknown>>;
  fees: Readonly<Record<string, unknown>>;
}

/** The bundler's method that takes an operation. */
export const SEND = 'eth_sendUserOperation';
const CHAIN_ID = 84532;
const CONFIG = answers['GET /pay/config'].body;
/** The block that is the newest when a page asks. */
const BLOCK = 1_000;
const ENCLAVE = new URL('../../../assets/enclave.wasm', import.meta.url);

/** Opens one in which nothing has happened. */
export function recordedVault(time: Pick<WorldTime, 'now'>): RecordedVault {
  const ether = { symbol: 'ETH', decimals: 18, listed: true, balances: new Map() };
  const usdc = { symbol: 'USDC', decimals: 6, listed: true, balances: new Map() };
  const keysOf = new Map<string, { readonly pubKeyX: string; readonly pubKeyY: string }>();
  const taken = new Set<Hex.Hex>();
  const vault: RecordedVault = {
    ask,
    faults: [],
    asked: [],
    sent: [],
    shows: undefined,
    included: undefined,
    bundler: undefined,
    refuse(code, message) {
      vault.bundler = (method) => (method === SEND ? { error: { code, message } } : undefined);
    },
    away: [],
    tokens: new Map([
      ['native', ether],
      [USDC.toLowerCase(), usdc],
    ]),
    accounts: new Map(),
    deploy(account) {
      const { pubKeyX = '0x0', pubKeyY = '0x0' } = keysOf.get(account.toLowerCase()) ?? {};
      const keys = [{ index: 0, x: pubKeyX, y: pubKeyY, addedAt: null, label: null, synced: null }];
      vault.accounts.set(account.toLowerCase(), { ...DEPLOYED, pubKeyX, pubKeyY, keys });
    },
    config: {},
    fees: {},
  };

  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(path, 'http://vault.test');
    vault.asked.push(url);
    if (vault.away.includes(url.pathname)) throw new DOMException('away', 'NetworkError');
    if (url.pathname === '/enclave.wasm')
      return new Response(Bun.file(ENCLAVE), { headers: { 'content-type': 'application/wasm' } });
    try {
      const { status, body } = answer(url, init) ?? { status: 404, body: { error: 'not_found' } };
      return Response.json(body, { status });
    } catch (fault) {
      vault.faults.push(fault);
      throw fault;
    }
  }

  /** The answer of a path; undefined where there is none. */
  function answer({ pathname, searchParams }: URL, init: RequestInit): { status: number; body: unknown } | undefined {
    const asked = Object.fromEntries(searchParams);
    const account = asked['account']?.toLowerCase() ?? '';
    const ok = (body: unknown) => ({ status: 200, body });
    switch (pathname) {
      case '/words/pay.json':
        return ok({ ...answers['GET /words/pay.json'].body, words: english });
      case '/pay/config':
        return ok({ ...CONFIG, ...vault.config });
      case '/pay/fees':
        return ok({ ...answers['GET /pay/fees'].body, time: seconds(), block: BLOCK, ...vault.fees });
      case '/pay/token': {
        const token = vault.tokens.get(asked['token']?.toLowerCase() ?? '');
        if (!token) return { status: 400, body: { error: 'Invalid token: no token at the address' } };
        const { balances, ...about } = token;
        return ok({ token: asked['token'], ...about, balance: String(balances.get(account) ?? 0n), deposit: '0' });
      }
      case '/api/accounts/predict': {
        const { pubKeyX = '', pubKeyY = '', kind = '1' } = asked;
        const address = `0x${createHash('sha256')
          .update(`${kind} ${BigInt(pubKeyX)}`)
          .digest('hex')
          .slice(0, 40)}`;
        keysOf.set(address, { pubKeyX, pubKeyY });
        return ok({ address });
      }
      case '/api/accounts/state':
        return ok(vault.accounts.get(account) ?? NOT_DEPLOYED);
      case '/pay/outcome':
        return ok(show(asked));
      case '/api/bundler':
        return call(JSON.parse(String(init.body)));
      default:
        return undefined;
    }
  }

  function seconds(): number {
    return Math.floor(time.now() / 1000);
  }

  /** What the chain shows of a nonce. */
  function show({ nonce, since }: Readonly<Record<string, string>>): object {
    const of = vault.sent.filter(({ operation }) => BigInt(operation['nonce'] ?? 0) === BigInt(nonce ?? 0));
    const named = of.find(({ userOpHash }) => userOpHash === vault.included);
    const newest = named ?? of.findLast(({ userOpHash }) => taken.has(userOpHash)) ?? of.at(-1);
    const { userOpHash = `0x${'0'.repeat(64)}`, end = seconds() + 600 } = newest ?? {};
    const isIn = newest !== undefined && taken.has(newest.userOpHash);
    return outcomeOf(vault.shows ?? (isIn ? 'paid' : 'open'), { since: Number(since), end, userOpHash });
  }

  function call({ id, method, params }: { id: number; method: string; params: readonly unknown[] }) {
    const sent = method === SEND ? note(params[0] as Sent['operation']) : undefined;
    const own = vault.bundler?.(method, params) ?? usual(method, sent);
    if (own === 'lost') return { status: 502, body: { error: 'bundler_error' } };
    if (sent && 'result' in own) taken.add(sent.userOpHash);
    const said = 'error' in own ? { error: readRpcError(own.error) } : own;
    return { status: 200, body: { jsonrpc: '2.0', id, ...said } };
  }

  function note(operation: Sent['operation']): Sent {
    const entryPoint = CONFIG.entryPoint as Hex.Hex;
    const hash = operationHash({ entryPoint } as SmartAccount, UserOperation.fromRpc(operation as never), CHAIN_ID);
    const sent = { operation, userOpHash: hash, end: Number.parseInt((operation['signature'] ?? '').slice(4, 16), 16) };
    vault.sent.push(sent);
    return sent;
  }

  return vault;
}

function usual(method: string, sent: Sent | undefined): BundlerAnswer {
  if (sent) return { result: sent.userOpHash };
  if (method === 'pm_sponsorUserOperation') return { result: { ...GAS, ...SPONSOR } };
  if (method === 'eth_estimateUserOperationGas') return { result: GAS };
  return { error: { code: -32601, message: `unknown method ${method}` } };
}

const GAS = { callGasLimit: '0x30d40', verificationGasLimit: '0x927c0', preVerificationGas: '0xea60' };
const SPONSOR = {
  paymaster: `0x${'5b'.repeat(20)}`,
  paymasterVerificationGasLimit: '0x186a0',
  paymasterPostOpGasLimit: '0x1',
  paymasterData: '0x00',
};

const DEPLOYED = answers['GET /api/accounts/state'].body;
const NOT_DEPLOYED = {
  ...DEPLOYED,
  ...{ kind: null, factory: null, keys: null, guardian: null },
  ...{ pubKeyX: '0x0', pubKeyY: '0x0' },
};
