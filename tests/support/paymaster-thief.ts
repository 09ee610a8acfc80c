// A stranger who has an operator's paymaster pay him: he pads and overprices, and bundles his operations himself.
import { AbiFunction, type Address, Hex, Secp256k1 } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import type { AccountKind } from '../../lib/chain/account.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';
import { addressOf, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { balanceOf, handleOpsFor } from './operations.ts';
import type { Reply } from './vault.ts';

/** How a signature of the sponsor is asked for. */
export const WAYS = ['pm_getPaymasterData', 'pm_sponsorUserOperation', 'pm_getPaymasterStubData'] as const;

/** One of `WAYS`. */
export type Way = (typeof WAYS)[number];

/** What a thief asks for: gas that is charged in full, gas that is charged in part, and prices in wei. */
export interface Greed {
  readonly preVerificationGas: bigint;
  readonly callGasLimit: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

interface World {
  readonly node: ChainRpc;
  readonly contracts: Parameters<typeof wallet.openAccount>[1] & { readonly accountFactory2: Address.Address };
  readonly paymaster: Address.Address;
}

/** What he took: wei that the paymaster lost, that he got, and that his transactions cost, by operation. */
export interface Loot {
  readonly operations: number;
  readonly lost: bigint;
  readonly won: bigint;
  readonly gas: bigint;
}

/** A request to the vault, as JSON-RPC. */
export type Ask = (method: Way, operation: UserOperation.Rpc) => Promise<Reply['body']>;

/** An operation of a new account that does nothing, or that renames its key many times, at what he would like. */
export async function greedyOperation({ node, contracts }: World, greed: Greed, kind: AccountKind, calls = 1) {
  const account = await wallet.openAccount(node, contracts, createPasskey(), 0n, kind);
  const call = { target: account.address, ...(calls === 1 ? {} : { data: RENAMING }) };
  const prepared = await wallet.prepareOperation(
    node,
    account,
    Array.from({ length: calls }, () => call),
  );
  const gas = { paymasterVerificationGasLimit: 100_000n, paymasterPostOpGasLimit: 1n };
  return { account, operation: { ...prepared, verificationGasLimit: 400_000n, ...gas, ...greed } as wallet.Operation };
}

/** Asks for an operation by one way, and signs it; undefined where he is refused. */
export async function obtain(
  world: World,
  { account, operation }: Awaited<ReturnType<typeof greedyOperation>>,
  way: Way,
  ask: Ask,
): Promise<wallet.Operation | undefined> {
  const draft = wallet.toRpc({ ...operation, paymaster: world.paymaster, paymasterData: '0x' } as wallet.Operation);
  const { result } = await ask(way, draft);
  if (typeof result !== 'object' || (way === 'pm_getPaymasterStubData' && result.isFinal !== true)) return undefined;
  const { isFinal: _, sponsor: __, ...given } = result;
  const sponsored = UserOperation.fromRpc({ ...draft, ...given } as never) as wallet.Operation;
  return wallet.signOperation(world.node, account, sponsored);
}

const RENAMING = AbiFunction.encodeData(AbiFunction.from('function nameKey(uint8 index, bytes32 label)'), [
  0,
  Hex.padLeft('0x01', 32),
]);
const DEPOSIT_OF = AbiFunction.from('function balanceOf(address account) view returns (uint256)');
/** Transactions of so many operations fit into a block. */
const BUNDLE = 20;

/** Bundles operations, the fees to himself; each transaction has the price of the market. */
export async function bundle({ node, contracts, paymaster }: World, operations: readonly wallet.Operation[]) {
  const privateKey = Secp256k1.randomPrivateKey();
  const thief = addressOf(privateKey);
  await node('anvil_setBalance', [thief, Hex.fromNumber(10n ** 20n)]);
  const deposit = async () => {
    const call = { to: contracts.entryPoint, data: AbiFunction.encodeData(DEPOSIT_OF, [paymaster]) };
    return BigInt((await node('eth_call', [call, 'latest'])) as string);
  };
  const [had, held] = [await deposit(), await balanceOf(node, thief)];
  let gas = 0n;
  for (let at = 0; at < operations.length; at += BUNDLE) {
    const data = handleOpsFor(thief, operations.slice(at, at + BUNDLE));
    const { gasUsed, effectiveGasPrice } = await sendTransaction(node, privateKey, { to: contracts.entryPoint, data });
    gas += BigInt(gasUsed) * BigInt(effectiveGasPrice ?? 0);
  }
  const won = (await balanceOf(node, thief)) - held + gas;
  return { operations: operations.length, lost: had - (await deposit()), won, gas } satisfies Loot;
}
