// User operations (ERC-4337, EntryPoint 0.7 to 0.9) of passkeys' accounts, as a wallet makes them.
import { AbiFunction, AbiParameters, type Address, Base64, Bytes, Hex, Signature } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { accountAbi, accountFactoryAbi } from '../../lib/chain/abi.ts';
import type { Assertion } from '../../lib/identity/passkey.ts';
import type { ChainRpc } from './chain.ts';
import { isDeployed } from './create2.ts';
import type { Deployment } from './deploy.ts';
import { ENTRY_POINTS } from './entrypoints.ts';
import { createPasskey, type Passkey } from './passkey.ts';

/** A user operation, signed if only in form. */
export type Operation = UserOperation.UserOperation<'0.7', true>;

/** The account of a passkey, whether it exists yet or not. */
export interface SmartAccount {
  readonly address: Address.Address;
  readonly passkey: Passkey;
  readonly factory: Address.Address;
  readonly entryPoint: Address.Address;
  /** The call of the factory that creates it. */
  readonly factoryData: Hex.Hex;
}

/** One call that an account makes; value in wei. */
export interface AccountCall {
  readonly target: Address.Address;
  readonly value?: bigint;
  readonly data?: Hex.Hex;
}

/**
 * A bundler's receipt of a mined operation. `success` is that of the inner call; the transaction itself always
 * succeeds.
 */
export interface OperationReceipt {
  readonly success: boolean;
  readonly userOpHash: Hex.Hex;
  readonly actualGasUsed: Hex.Hex;
  readonly receipt: { readonly transactionHash: Hex.Hex; readonly blockNumber: Hex.Hex; readonly gasUsed: Hex.Hex };
}

const RECEIPT_TIMEOUT_MS = 20_000;
const POLL_MS = 20;
const PRIORITY_FEE_WEI = 1_000_000n;
/**
 * The least an operation asks for. Estimates alone are too low: of the verification because they are made with a
 * signature over something else, which is refused before its P-256 half has cost anything; of the calls because they
 * run in the latest block, where writing the block's time a second time costs next to nothing.
 */
const VERIFICATION_GAS_MIN = 300_000n;
const CALL_GAS_MIN = 150_000n;

/** A passkey's account, at the address that the factory says. */
export async function openAccount(
  rpc: ChainRpc,
  { accountFactory: factory, entryPoint }: Pick<Deployment, 'accountFactory' | 'entryPoint'>,
  passkey: Passkey,
  salt = 0n,
): Promise<SmartAccount> {
  const key = [Bytes.toBigInt(passkey.key.x), Bytes.toBigInt(passkey.key.y), salt] as const;
  const getAddress = AbiFunction.fromAbi(accountFactoryAbi, 'getAddress');
  const data = AbiFunction.encodeData(getAddress, key);
  const address = AbiFunction.decodeResult(getAddress, await call(rpc, factory, data));
  const factoryData = AbiFunction.encodeData(AbiFunction.fromAbi(accountFactoryAbi, 'createAccount'), key);
  return { address, passkey, factory, entryPoint, factoryData };
}

/**
 * Builds an operation, has it sponsored, signs it, sends it and waits: what the wallet of an account without ether
 * does.
 */
export async function runSponsored(
  node: ChainRpc,
  bundler: ChainRpc,
  account: SmartAccount,
  calls: readonly AccountCall[],
): Promise<OperationReceipt> {
  const operation = await sponsorOperation(bundler, account, await prepareOperation(node, account, calls));
  return sendOperation(bundler, account, await signOperation(node, account, operation));
}

/**
 * An operation with the account's next nonce and today's fees; it also creates the account where that does not exist.
 * Gas limits and signature are still to come.
 */
export async function prepareOperation(
  node: ChainRpc,
  { address: sender, factory, factoryData, entryPoint }: SmartAccount,
  calls: readonly AccountCall[],
): Promise<Operation> {
  const nonce = BigInt(await call(node, entryPoint, AbiFunction.encodeData(GET_NONCE, [sender, 0n])));
  const gasPrice = BigInt((await node('eth_gasPrice')) as string);
  return {
    sender,
    nonce,
    ...((await isDeployed(node, sender)) ? {} : { factory, factoryData }),
    callData: accountCallData(calls),
    callGasLimit: CALL_GAS_MIN,
    verificationGasLimit: VERIFICATION_GAS_MIN,
    preVerificationGas: 0n,
    maxFeePerGas: gasPrice * 2n + PRIORITY_FEE_WEI,
    maxPriorityFeePerGas: PRIORITY_FEE_WEI,
    signature: SIGNATURE_IN_FORM,
  };
}

/** The account's `execute` for one call, else its `executeBatch`. */
export function accountCallData(calls: readonly AccountCall[]): Hex.Hex {
  const full = calls.map(({ target, value = 0n, data = '0x' }) => ({ target, value, data }));
  const [only, ...others] = full;
  if (only && others.length === 0)
    return AbiFunction.encodeData(AbiFunction.fromAbi(accountAbi, 'execute'), [only.target, only.value, only.data]);
  return AbiFunction.encodeData(AbiFunction.fromAbi(accountAbi, 'executeBatch'), [full]);
}

/** The operation as it travels: quantities in hex. */
export function toRpc(operation: Operation): UserOperation.Rpc {
  return UserOperation.toRpc(operation);
}

/** Has gas limits estimated and a paymaster pay, by `pm_sponsorUserOperation`. */
export async function sponsorOperation(
  bundler: ChainRpc,
  { entryPoint }: SmartAccount,
  operation: Operation,
): Promise<Operation> {
  const given = await bundler('pm_sponsorUserOperation', [toRpc(operation), entryPoint]);
  return UserOperation.fromRpc({ ...toRpc(operation), ...(given as object) } as never) as Operation;
}

/** The operation with the signature of its account's passkey, or of another one. */
export async function signOperation(
  node: ChainRpc,
  account: SmartAccount,
  operation: Operation,
  passkey = account.passkey,
): Promise<Operation> {
  const hash = operationHash(account, operation, Number(await node('eth_chainId')));
  return { ...operation, signature: encodeAssertion(passkey.assert(Hex.toBytes(hash))) };
}

/** What the passkey signs, as the account's EntryPoint computes it. */
export function operationHash({ entryPoint }: SmartAccount, operation: Operation, chainId: number): Hex.Hex {
  const entryPointVersion = entryPoint === ENTRY_POINTS['0.7'] ? '0.7' : '0.8';
  // 0.9 computes as 0.8 does.
  return UserOperation.hash(operation, { chainId, entryPointAddress: entryPoint, entryPointVersion });
}

/**
 * An assertion as the account takes it: the ABI encoding of OpenZeppelin's `WebAuthnAuth` without its first word, s in
 * the lower half.
 */
export function encodeAssertion(assertion: Assertion): Hex.Hex {
  const { r, s } = Signature.fromDerBytes(Base64.toBytes(assertion.signature));
  const low = BigInt(s) > P256_ORDER / 2n ? P256_ORDER - BigInt(s) : BigInt(s);
  const clientDataJSON = Base64.toString(assertion.clientDataJSON);
  const encoded = AbiParameters.encode(WEBAUTHN_AUTH, [
    {
      r: Hex.fromNumber(BigInt(r), { size: 32 }),
      s: Hex.fromNumber(low, { size: 32 }),
      challengeIndex: BigInt(clientDataJSON.indexOf('"challenge"')),
      typeIndex: BigInt(clientDataJSON.indexOf('"type"')),
      authenticatorData: Hex.fromBytes(Base64.toBytes(assertion.authenticatorData)),
      clientDataJSON,
    },
  ]);
  return Hex.slice(encoded, 32);
}

/** Sends a signed operation and waits until it is mined. Throws the bundler's error when it is refused. */
export async function sendOperation(
  bundler: ChainRpc,
  { entryPoint }: SmartAccount,
  operation: Operation,
): Promise<OperationReceipt> {
  const hash = await bundler('eth_sendUserOperation', [toRpc(operation), entryPoint]);
  const deadline = performance.now() + RECEIPT_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const receipt = await bundler('eth_getUserOperationReceipt', [hash]);
    if (receipt) return receipt as OperationReceipt;
    await Bun.sleep(POLL_MS);
  }
  throw new Error(`User operation ${hash} was not mined in ${RECEIPT_TIMEOUT_MS} ms`);
}

const GET_NONCE = AbiFunction.from('function getNonce(address sender, uint192 key) view returns (uint256)');
const WEBAUTHN_AUTH = AbiParameters.from([
  'struct WebAuthnAuth { bytes32 r; bytes32 s; uint256 challengeIndex; uint256 typeIndex; bytes authenticatorData; string clientDataJSON; }',
  'WebAuthnAuth auth',
]);
/** The order of P-256 (SEC 2 section 2.4.2). */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** A placeholder as long as a real signature, for estimates that count its bytes. */
const SIGNATURE_IN_FORM = encodeAssertion(createPasskey().assert(new Uint8Array(32)));

async function call(rpc: ChainRpc, to: Address.Address, data: Hex.Hex): Promise<Hex.Hex> {
  return (await rpc('eth_call', [{ to, data }, 'latest'])) as Hex.Hex;
}
