// User operations (ERC-4337, EntryPoint 0.7 to 0.9) of passkeys' accounts, as a wallet makes them.
import { AbiFunction, type Address, Bytes, Hex } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { accountAbi, accountFactoryAbi } from '../../contracts/abi.ts';
import type { AccountKind } from '../../lib/chain/account.ts';
import { isVerified, P256_PROBE } from '../../lib/chain/p256.ts';
import { encodeSignature, NO_END, passkeySigner, signUntil } from './account2.ts';
import type { ChainRpc } from './chain.ts';
import { isDeployed } from './create2.ts';
import type { Deployment } from './deploy.ts';
import { type AccountCall, encodeAssertion, type Operation, operationHash, type SmartAccount } from './operation.ts';
import { createPasskey, type Passkey } from './passkey.ts';

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

const RECEIPT_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
const PRIORITY_FEE_WEI = 1_000_000n;
/**
 * The least an operation asks for. Estimates alone are too low: of the verification because they are made with a
 * signature over something else, which is refused before its P-256 half has cost anything; of the calls because they
 * run in the latest block, where writing the block's time a second time costs next to nothing.
 */
const VERIFICATION_GAS_MIN = 300_000n;
const CALL_GAS_MIN = 150_000n;
/** Extra verification gas where the chain has no precompile for P-256. */
const VERIFICATION_GAS_WITHOUT_P256 = 250_000n;
/** How long an operation of the second kind can be included. */
const VALID_SECONDS = 600;

export {
  type AccountCall,
  encodeAssertion,
  type Operation,
  operationHash,
  type SmartAccount,
} from './operation.ts';

/** A passkey's account, at the address that the factory of its kind says. */
export async function openAccount(
  rpc: ChainRpc,
  contracts: Pick<Deployment, 'accountFactory' | 'entryPoint'> & Partial<Pick<Deployment, 'accountFactory2'>>,
  passkey: Passkey,
  salt = 0n,
  kind: AccountKind = 1,
): Promise<SmartAccount> {
  const factory = kind === 1 ? contracts.accountFactory : contracts.accountFactory2;
  if (factory === undefined) throw new Error('there is no factory of the second kind');
  const key = [Bytes.toBigInt(passkey.key.x), Bytes.toBigInt(passkey.key.y), salt] as const;
  const getAddress = AbiFunction.fromAbi(accountFactoryAbi, 'getAddress');
  const data = AbiFunction.encodeData(getAddress, key);
  const address = AbiFunction.decodeResult(getAddress, await call(rpc, factory, data));
  const factoryData = AbiFunction.encodeData(AbiFunction.fromAbi(accountFactoryAbi, 'createAccount'), key);
  return { address, passkey, factory, entryPoint: contracts.entryPoint, factoryData, kind };
}

/**
 * Builds an operation, has it sponsored, signs it, sends it and waits, as the wallet of an account without ether does.
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
  { address: sender, factory, factoryData, entryPoint, kind }: SmartAccount,
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
    verificationGasLimit: VERIFICATION_GAS_MIN + ((await hasP256(node)) ? 0n : VERIFICATION_GAS_WITHOUT_P256),
    preVerificationGas: 0n,
    maxFeePerGas: gasPrice * 2n + PRIORITY_FEE_WEI,
    maxPriorityFeePerGas: PRIORITY_FEE_WEI,
    signature: kind === 2 ? encodeSignature({ index: 0 }, SIGNATURE_IN_FORM, NO_END) : SIGNATURE_IN_FORM,
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

/**
 * The operation with the signature of its account's passkey, or of another one. Of an account of the second kind it is
 * the first key's, and ends in 10 minutes.
 */
export async function signOperation(
  node: ChainRpc,
  account: SmartAccount,
  operation: Operation,
  passkey = account.passkey,
): Promise<Operation> {
  if (account.kind === 2) {
    return signUntil(node, account, operation, passkeySigner(passkey), (await nextBlockTime(node)) + VALID_SECONDS);
  }
  const hash = operationHash(account, operation, Number(await node('eth_chainId')));
  return { ...operation, signature: encodeAssertion(passkey.assert(Hex.toBytes(hash))) };
}

/** In seconds. A chain that has been idle makes its next block now. */
async function nextBlockTime(node: ChainRpc): Promise<number> {
  const block = (await node('eth_getBlockByNumber', ['latest', false])) as { readonly timestamp: Hex.Hex };
  return Math.max(Number(block.timestamp), Math.floor(Date.now() / 1000));
}

/** Whether the chain has a precompile for P-256. */
async function hasP256(node: ChainRpc): Promise<boolean> {
  return isVerified(await node('eth_call', [P256_PROBE, 'latest']));
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
/** A placeholder as long as a real signature, for estimates that count its bytes. */
const SIGNATURE_IN_FORM = encodeAssertion(createPasskey().assert(new Uint8Array(32)));

async function call(rpc: ChainRpc, to: Address.Address, data: Hex.Hex): Promise<Hex.Hex> {
  return (await rpc('eth_call', [{ to, data }, 'latest'])) as Hex.Hex;
}
