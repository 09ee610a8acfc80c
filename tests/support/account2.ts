// Second accounts on a real chain, driven by operations that their keys signed.
import { type Abi, AbiError, AbiEvent, AbiFunction, Hex, type TransactionReceipt } from 'ox';
import { account2Abi } from '../../contracts/abi.ts';
import { deployFactory2, type Proposal, type Signer, signUntil } from '../../scripts/dev-stack/account2.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { draftOf, handleOps, readAccount } from './operations.ts';

/** The EntryPoints that a second account may trust. */
export const VERSIONS = ['0.7', '0.8', '0.9'] as const;

/** The chains that it must work on. */
export const NODES = { 'with the P-256 precompile': {}, 'without it': { hardfork: 'prague' } } as const;

/** One of `VERSIONS`. */
export type Version = (typeof VERSIONS)[number];

/** A key as the account lists it. */
export interface ListedKey {
  readonly index: number;
  readonly x: bigint;
  readonly y: bigint;
  readonly addedAt: number;
  readonly label: Hex.Hex;
}

const ETHER = 10n ** 18n;

/** The account of a passkey, a fresh one when absent, with an ether. */
export async function fundedAccount2(
  rpc: ChainRpc,
  version: Version = '0.7',
  passkey = createPasskey(),
  salt = 0n,
): Promise<wallet.SmartAccount> {
  await deployEntryPoints(rpc, [version]);
  const entryPoint = ENTRY_POINTS[version];
  const accountFactory = await deployFactory2(rpc, entryPoint);
  const account = await wallet.openAccount(rpc, { accountFactory, entryPoint }, passkey, salt);
  await rpc('anvil_setBalance', [account.address, Hex.fromNumber(ETHER)]);
  return account;
}

/** The same, created. */
export async function createdAccount2(rpc: ChainRpc, version: Version = '0.7'): Promise<wallet.SmartAccount> {
  const account = await fundedAccount2(rpc, version);
  await run(rpc, account, []);
  return account;
}

/** A call of one of the account's own functions, as an operation's call or in a batch. */
export function own(account: wallet.SmartAccount, name: string, ...args: readonly unknown[]): wallet.AccountCall {
  return { target: account.address, data: ownData(name, ...args) };
}

/** The call data of one of an account's functions; `execute` by its whole signature. */
export function ownData(name: string, ...args: readonly unknown[]): Hex.Hex {
  return AbiFunction.encodeData(AbiFunction.fromAbi(account2Abi as Abi.Abi, name), args as never);
}

/** Has the EntryPoint handle an operation that makes these calls, signed by a key of the account. */
export async function run(
  rpc: ChainRpc,
  account: wallet.SmartAccount,
  calls: readonly wallet.AccountCall[],
  { signer, validUntil, callData }: { signer?: Signer; validUntil?: number; callData?: Hex.Hex } = {},
) {
  const draft = await draftOf(rpc, account, calls);
  const operation = await signUntil(rpc, account, callData ? { ...draft, callData } : draft, signer, validUntil);
  return handleOps(rpc, account.entryPoint, operation);
}

/** Has the EntryPoint call one of the account's own functions; what it reverted with, if it did. */
export async function runOwn(
  rpc: ChainRpc,
  account: wallet.SmartAccount,
  name: string,
  ...args: readonly unknown[]
): Promise<Hex.Hex | undefined> {
  const { events, reason } = await run(rpc, account, [], { callData: ownData(name, ...args) });
  return events[0]?.success ? undefined : (reason ?? '0x');
}

/** What a view function of the account answers. */
export function read(rpc: ChainRpc, { address }: wallet.SmartAccount, name: string, ...args: readonly unknown[]) {
  return readAccount(rpc, account2Abi, address, name, ...args);
}

/** The account's keys. */
export async function keysOf(rpc: ChainRpc, account: wallet.SmartAccount): Promise<readonly ListedKey[]> {
  return (await read(rpc, account, 'getKeys')) as readonly ListedKey[];
}

/** The pending recovery; its id is zero when there is none. */
export async function recoveryOf(
  rpc: ChainRpc,
  account: wallet.SmartAccount,
): Promise<Proposal & { readonly readyAt: number; readonly label: Hex.Hex }> {
  const [id, x, y, readyAt, label] = (await read(rpc, account, 'getRecovery')) as readonly [
    number,
    bigint,
    bigint,
    number,
    Hex.Hex,
  ];
  return { id, x, y, readyAt, label };
}

/** Calls the account from an ordinary address. */
export function send(
  rpc: ChainRpc,
  by: Parameters<typeof devAccount>[0],
  account: wallet.SmartAccount,
  name: string,
  ...args: readonly unknown[]
) {
  const call = { to: account.address, data: ownData(name, ...args) };
  return sendTransaction(rpc, devAccount(by).privateKey, call);
}

/** Which of its errors an account would refuse a call with, at a time if one is named; null when it would not. */
export async function refusedWith(
  rpc: ChainRpc,
  by: Parameters<typeof devAccount>[0],
  account: wallet.SmartAccount,
  call: { readonly name: string; readonly args?: readonly unknown[]; readonly time?: number },
): Promise<string | null> {
  const { name, args = [], time } = call;
  const transaction = { from: devAccount(by).address, to: account.address, data: ownData(name, ...args) };
  const at = time === undefined ? [] : [{}, { time: Hex.fromNumber(time) }];
  return rpc('eth_call', [transaction, 'latest', ...at]).then(
    () => null,
    ({ cause }) => errorName((cause as { data?: Hex.Hex }).data),
  );
}

/** The name of one of an account's errors. */
export function errorName(data: Hex.Hex | undefined): string {
  const errors = (account2Abi as Abi.Abi).filter((entry) => entry.type === 'error');
  const found = errors.find((entry) => data?.startsWith(AbiError.getSelector(entry)));
  return found?.name ?? `another error: ${data}`;
}

/** The keys that signed, by the account's events in a receipt: each key's x, and the hash of what it signed. */
export function signersOf(logs: TransactionReceipt.Rpc['logs'], account: wallet.SmartAccount): readonly object[] {
  return allEventsOf(logs, account).filter(({ name }) => name === 'SignedBy');
}

/** The account's other events in a receipt: their names and values. */
export function eventsOf(logs: TransactionReceipt.Rpc['logs'], account: wallet.SmartAccount) {
  return allEventsOf(logs, account).filter(({ name }) => name !== 'SignedBy');
}

function allEventsOf(logs: TransactionReceipt.Rpc['logs'], { address }: wallet.SmartAccount) {
  const events = (account2Abi as Abi.Abi).filter((entry) => entry.type === 'event');
  return logs.flatMap((log) => {
    const event = events.find((entry) => AbiEvent.getSelector(entry) === log.topics[0]);
    if (!event || log.address !== address.toLowerCase()) return [];
    return [{ name: event.name, ...(AbiEvent.decode(event, log as never) as object) }];
  });
}

/** Moves the clock: the next block has this time, in seconds. */
export async function setTime(rpc: ChainRpc, time: number): Promise<void> {
  await rpc('evm_setNextBlockTimestamp', [Hex.fromNumber(time)]);
  await rpc('anvil_mine', ['0x1']);
}

/** The newest block's time, in seconds. */
export async function timeOf(rpc: ChainRpc): Promise<number> {
  const block = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex.Hex };
  return Number(block.timestamp);
}
