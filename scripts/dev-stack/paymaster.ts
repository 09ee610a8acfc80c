// A paymaster's web service in front of a bundler: ERC-7677, and `pm_sponsorUserOperation` as the trade has it.
import { AbiConstructor, AbiFunction, type Address, Hex, Secp256k1, Signature, TypedData } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { compileWorld } from '../contracts.ts';
import { type ChainRpc, connectChain } from './chain.ts';
import { create2 } from './create2.ts';
import { ENTRY_POINTS } from './entrypoints.ts';
import { devAccount, sendTransaction } from './wallet.ts';

/** A running service: one URL for the paymaster's methods and all of the bundler's. */
export interface Paymaster {
  readonly url: string;
  /** The contracts that pay, by the EntryPoint that each serves. */
  readonly addresses: Readonly<Record<string, Address.Address>>;
  stop(): Promise<void>;
}

/**
 * Deploys `DevPaymaster` for EntryPoint 0.7 and 0.8, fills its deposit, and serves on loopback. It sponsors every
 * operation it is asked for.
 */
export async function startPaymaster(options: {
  readonly node: ChainRpc;
  readonly bundlerUrl: string;
  readonly port?: number;
}): Promise<Paymaster> {
  const { node, bundlerUrl, port = 0 } = options;
  const addresses: Record<string, Address.Address> = {};
  for (const version of ['0.7', '0.8'] as const) addresses[ENTRY_POINTS[version]] = await fund(node, version);
  const chainId = Number(await node('eth_chainId'));
  const sponsor = { chainId, addresses, bundler: connectChain(bundlerUrl) };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    idleTimeout: IDLE_SECONDS,
    async fetch(request) {
      const body = await request.text();
      const headers = { 'content-type': request.headers.get('content-type') ?? '' };
      const { id, method, params } = readCall(body);
      const answer = METHODS[method];
      if (!answer) return fetch(bundlerUrl, { method: request.method, headers, body });
      const outcome = await answer(sponsor, params).then((result) => ({ result }), errorOf);
      return Response.json({ jsonrpc: '2.0', id, ...outcome });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, addresses, stop: () => server.stop(true) };
}

const IDLE_SECONDS = 60;
const DEPOSIT_WEI = 100n * 10n ** 18n;
const DEPOSIT_TO = AbiFunction.from('function depositTo(address account) payable');
const BALANCE_OF = AbiFunction.from('function balanceOf(address account) view returns (uint256)');

/** The paymaster of an EntryPoint, with a deposit that lasts. */
async function fund(node: ChainRpc, version: '0.7' | '0.8'): Promise<Address.Address> {
  const { DevPaymaster: artifact } = await compileWorld();
  if (!artifact) throw new Error('contracts/world/DevPaymaster.sol is missing');
  const entryPoint = ENTRY_POINTS[version];
  const args = [entryPoint, devAccount('sponsor').address] as const;
  const code = AbiConstructor.encode(CONSTRUCTOR, { bytecode: artifact.bytecode, args });
  const paymaster = await create2(node, code);
  const balanceOf = { to: entryPoint, data: AbiFunction.encodeData(BALANCE_OF, [paymaster]) };
  if (BigInt((await node('eth_call', [balanceOf, 'latest'])) as string) < DEPOSIT_WEI / 2n) {
    const data = AbiFunction.encodeData(DEPOSIT_TO, [paymaster]);
    await sendTransaction(node, devAccount('owner').privateKey, { to: entryPoint, data, value: DEPOSIT_WEI });
  }
  return paymaster;
}

const CONSTRUCTOR = AbiConstructor.from('constructor(address trusted, address signer)');

interface Sponsor {
  readonly chainId: number;
  readonly addresses: Readonly<Record<string, Address.Address>>;
  readonly bundler: ChainRpc;
}

/** A user operation as it travels, not all of it there yet. */
type RpcOperation = Partial<Readonly<Record<string, Hex.Hex>>>;

type Answer = (sponsor: Sponsor, params: readonly unknown[]) => Promise<object>;

const METHODS: Readonly<Record<string, Answer>> = {
  async pm_getPaymasterStubData(sponsor, [, entryPoint, chainId]) {
    const draft = { ...paymasterOf(sponsor, entryPoint, chainId), ...PAYMASTER_GAS };
    return { ...draft, paymasterData: dataWith(NO_SIGNATURE), sponsor: { name: 'Dev Paymaster' }, isFinal: false };
  },
  async pm_getPaymasterData(sponsor, [operation, entryPoint, chainId]) {
    const { paymaster } = paymasterOf(sponsor, entryPoint, chainId);
    return { paymaster, paymasterData: agree(sponsor, { ...(operation as RpcOperation), paymaster }) };
  },
  /** Stub, estimate and final data in one; a limit that the caller asks for stays where it is the higher one. */
  async pm_sponsorUserOperation(sponsor, [operation, entryPoint]) {
    const given = operation as RpcOperation;
    const draft = { ...paymasterOf(sponsor, entryPoint), ...PAYMASTER_GAS, paymasterData: dataWith(NO_SIGNATURE) };
    const estimate = await sponsor.bundler('eth_estimateUserOperationGas', [{ ...given, ...draft }, entryPoint]);
    const limits = LIMITS.map((name) => [name, higher(given[name], (estimate as RpcOperation)[name])] as const);
    const gas = { ...Object.fromEntries(limits), ...PAYMASTER_GAS };
    return { ...draft, ...gas, paymasterData: agree(sponsor, { ...given, ...draft, ...gas }) };
  },
};

const LIMITS = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'] as const;
/** It verifies one signature, and has nothing to do afterwards. */
const PAYMASTER_GAS = { paymasterVerificationGasLimit: '0x186a0', paymasterPostOpGasLimit: '0x1' } as const;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/** Throws when the EntryPoint is not served or the chain another one; `pm_sponsorUserOperation` names none. */
function paymasterOf({ chainId, addresses }: Sponsor, entryPoint: unknown, chain?: unknown) {
  const wanted = String(entryPoint).toLowerCase();
  const [, paymaster] = Object.entries(addresses).find(([served]) => served.toLowerCase() === wanted) ?? [];
  if (paymaster && (chain === undefined || Number(chain) === chainId)) return { paymaster };
  throw new Error('unsupported EntryPoint or chain', { cause: { code: INVALID_PARAMS } });
}

function higher(asked: Hex.Hex = '0x0', estimated: Hex.Hex = '0x0'): Hex.Hex {
  return BigInt(asked) > BigInt(estimated) ? asked : estimated;
}

/**
 * The operation's paymaster data with the sponsor's signature on all of the operation but that and the account's own
 * signature.
 */
function agree({ chainId }: Sponsor, operation: RpcOperation): Hex.Hex {
  const complete = UserOperation.fromRpc({ ...operation, signature: '0x' } as never) as UserOperation.V07<true>;
  const { paymasterVerificationGasLimit = 0n, paymasterPostOpGasLimit = 0n } = complete;
  const payload = TypedData.getSignPayload({
    domain: { name: 'Dev Paymaster', version: '1', chainId, verifyingContract: operation['paymaster'] as Hex.Hex },
    types: { UserOperationRequest: REQUEST },
    primaryType: 'UserOperationRequest',
    message: { ...UserOperation.toPacked(complete), paymasterVerificationGasLimit, paymasterPostOpGasLimit, ...ALWAYS },
  });
  return dataWith(Secp256k1.sign({ payload, privateKey: devAccount('sponsor').privateKey }));
}

/** `validAfter` and `validUntil`, where zero means for ever, and the signature. */
function dataWith(signature: Signature.Signature): Hex.Hex {
  return Hex.concat(`0x${'0'.repeat(24)}`, Signature.toHex(signature));
}

const ALWAYS = { validAfter: 0, validUntil: 0 };
/** A placeholder as long as a real signature, and as dear to verify. */
const NO_SIGNATURE = Secp256k1.sign({ payload: '0x00', privateKey: devAccount('sponsor').privateKey });
/** The EIP-712 type that OpenZeppelin's `PaymasterSigner` signs. */
const REQUEST = [
  { name: 'sender', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'initCode', type: 'bytes' },
  { name: 'callData', type: 'bytes' },
  { name: 'accountGasLimits', type: 'bytes32' },
  { name: 'preVerificationGas', type: 'uint256' },
  { name: 'gasFees', type: 'bytes32' },
  { name: 'paymasterVerificationGasLimit', type: 'uint256' },
  { name: 'paymasterPostOpGasLimit', type: 'uint256' },
  { name: 'validAfter', type: 'uint48' },
  { name: 'validUntil', type: 'uint48' },
] as const;

/** A call's parts; no method for anything else, so that the bundler says what is wrong with it. */
function readCall(body: string): { id?: unknown; method: string; params: readonly unknown[] } {
  try {
    const { id, method = '', params = [] } = JSON.parse(body);
    return { id, method, params };
  } catch {
    return { method: '', params: [] };
  }
}

/** The bundler's own error as it is, else one that says so little as any. */
function errorOf(failure: Error) {
  const { code = INTERNAL_ERROR, message = failure.message, data } = (failure.cause ?? {}) as Record<string, unknown>;
  return { error: { code, message, data } };
}
