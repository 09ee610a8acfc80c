// User operations given to real EntryPoints directly, and what those answer.
import { type Abi, AbiError, AbiEvent, AbiFunction, type Address, type Hex, type TransactionReceipt } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';

const PACKED =
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }';
const HANDLE_OPS = AbiFunction.from([PACKED, 'function handleOps(PackedUserOperation[] ops, address beneficiary)']);
const GET_HASH = AbiFunction.from([PACKED, 'function getUserOpHash(PackedUserOperation op) view returns (bytes32)']);
export const OPERATION_EVENT = AbiEvent.from(
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
);
const REVERT_REASON = AbiEvent.from(
  'event UserOperationRevertReason(bytes32 indexed userOpHash, address indexed sender, uint256 nonce, bytes revertReason)',
);
const FAILED_OP = AbiError.from('error FailedOp(uint256 opIndex, string reason)');
const FAILED_OP_WITH_REVERT = AbiError.from('error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)');

/** An operation to sign that makes these calls, with gas enough for either way of verifying. */
export async function draftOf(
  rpc: ChainRpc,
  account: wallet.SmartAccount,
  calls: readonly wallet.AccountCall[],
): Promise<wallet.Operation> {
  const draft = await wallet.prepareOperation(rpc, account, calls);
  return { ...draft, callGasLimit: 500_000n, verificationGasLimit: 1_000_000n, preVerificationGas: 60_000n };
}

/** The call data of `handleOps`. */
export function handleOpsData(...operations: readonly wallet.Operation[]): Hex.Hex {
  return handleOpsFor(BENEFICIARY, operations);
}

/** The same, with the fees for another. */
export function handleOpsFor(beneficiary: Address.Address, operations: readonly wallet.Operation[]): Hex.Hex {
  const packed = operations.map((operation) => UserOperation.toPacked(operation));
  return AbiFunction.encodeData(HANDLE_OPS, [packed, beneficiary]);
}

/** Gets the fees. */
const BENEFICIARY = devAccount('bob').address;

/** Has an EntryPoint handle operations; what became of each, and the gas of the whole transaction. */
export async function handleOps(
  rpc: ChainRpc,
  entryPoint: Address.Address,
  ...operations: readonly wallet.Operation[]
) {
  const data = handleOpsData(...operations);
  const { logs, gasUsed } = await sendTransaction(rpc, devAccount('bob').privateKey, { to: entryPoint, data });
  const [revert] = decoded(logs, REVERT_REASON);
  return { events: decoded(logs, OPERATION_EVENT), reason: revert?.revertReason, gasUsed: Number(gasUsed), logs };
}

/** Why an EntryPoint does not take an operation, in its own words. */
export async function refusal(
  rpc: ChainRpc,
  entryPoint: Address.Address,
  operation: wallet.Operation,
): Promise<string> {
  const error: unknown = await handleOps(rpc, entryPoint, operation).catch(({ cause }) => cause);
  const { data = '0x' } = error as { data?: Hex.Hex };
  const [, reason] = AbiError.decode(
    data.startsWith(AbiError.getSelector(FAILED_OP)) ? FAILED_OP : FAILED_OP_WITH_REVERT,
    data,
  );
  return reason;
}

/** The hash of an operation as its EntryPoint computes it. */
export async function hashOf(rpc: ChainRpc, entryPoint: Address.Address, operation: wallet.Operation) {
  const data = AbiFunction.encodeData(GET_HASH, [UserOperation.toPacked(operation)]);
  return rpc('eth_call', [{ to: entryPoint, data }, 'latest']);
}

/** What a view function of an account answers. */
export async function readAccount(
  rpc: ChainRpc,
  abi: Abi.Abi | readonly unknown[],
  account: Address.Address,
  name: string,
  ...args: readonly unknown[]
): Promise<unknown> {
  const item = AbiFunction.fromAbi(abi as Abi.Abi, name);
  const data = AbiFunction.encodeData(item, args as never);
  return AbiFunction.decodeResult(item, (await rpc('eth_call', [{ to: account, data }, 'latest'])) as Hex.Hex);
}

/** An address's ether, in wei. */
export async function balanceOf(rpc: ChainRpc, address: Address.Address): Promise<bigint> {
  return BigInt((await rpc('eth_getBalance', [address, 'latest'])) as string);
}

/** The events of one kind among logs. */
export function decoded<const event extends AbiEvent.AbiEvent>(
  logs: TransactionReceipt.Rpc['logs'],
  event: event,
): AbiEvent.decode.ReturnType<event>[] {
  const own = logs.filter(({ topics }) => topics[0] === AbiEvent.getSelector(event));
  return own.map((log) => AbiEvent.decode(event, log as never));
}
