// Recoveries of second accounts by a guardian that a test plays.
import { Hex } from 'ox';
import { passkeySigner, type Signer, signDigest, vetoDigest } from '../../scripts/dev-stack/account2.ts';
import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import type { SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { fundedAccount2, keysOf, own, read, recoveryOf, refusedWith, run, send } from './account2.ts';

/** A day in seconds. */
export const DAY = 86_400;

/** The guardian's delay, the least there may be. */
export const DELAY = 3 * DAY;

/** The label of every proposed key. */
export const LABEL = Hex.fromString('New phone', { size: 32 });

/** What owners commit to. */
export const COMMITMENT = Hex.random(32);

/** The guardian, `utility` among the local accounts. */
export const GUARDIAN = devAccount('utility').address;

/** An account whose owners named a guardian. */
export async function guarded(rpc: ChainRpc, of?: SmartAccount): Promise<SmartAccount> {
  const account = of ?? (await fundedAccount2(rpc));
  await run(rpc, account, [own(account, 'setGuardian', GUARDIAN, DELAY, COMMITMENT)]);
  return account;
}

/** Has the guardian propose a passkey, a fresh one when absent. */
export async function propose(rpc: ChainRpc, account: SmartAccount, passkey = createPasskey()) {
  const { logs } = await send(rpc, 'utility', account, 'proposeRecovery', ...proposalOf(passkey));
  const index = (await keysOf(rpc, account)).length;
  return { ...(await recoveryOf(rpc, account)), passkey, signer: passkeySigner(passkey, index), logs };
}

/** The arguments of a proposal. */
export function proposalOf(passkey: SmartAccount['passkey'], commitment: Hex.Hex = COMMITMENT): readonly unknown[] {
  const { x, y } = passkeySigner(passkey);
  return [x, y, LABEL, commitment];
}

/** Why a proposal would be refused; null when it would not. */
export function refusedProposal(
  rpc: ChainRpc,
  account: SmartAccount,
  {
    by = 'utility',
    passkey = createPasskey(),
    commitment,
    time,
  }: {
    by?: 'utility' | 'alice' | 'registrar';
    passkey?: SmartAccount['passkey'];
    commitment?: Hex.Hex;
    time?: number;
  } = {},
): Promise<string | null> {
  const args = proposalOf(passkey, commitment);
  return refusedWith(rpc, by, account, { name: 'proposeRecovery', args, ...(time === undefined ? {} : { time }) });
}

/** Why finishing at a time, in seconds, would be refused; null when it would not. */
export function finishAt(rpc: ChainRpc, account: SmartAccount, time: number): Promise<string | null> {
  return refusedWith(rpc, 'bob', account, { name: 'finishRecovery', time });
}

/** A key's veto of a recovery; the first key's unless another is named. */
export function veto(
  { address, passkey }: SmartAccount,
  proposal: Parameters<typeof vetoDigest>[2],
  signer: Signer = passkeySigner(passkey),
  chainId = 84532,
): Hex.Hex {
  return signDigest(signer, vetoDigest(address, chainId, proposal));
}

/** Why a veto would be refused; null when it would not. */
export function vetoRefusal(rpc: ChainRpc, account: SmartAccount, signature: Hex.Hex): Promise<string | null> {
  return refusedWith(rpc, 'bob', account, { name: 'vetoRecovery', args: [signature] });
}

/** The guardian and its rules. */
export async function guardianOf(rpc: ChainRpc, account: SmartAccount) {
  const [guardian, delay, commitment, vetoes, barredUntil] = (await read(rpc, account, 'getGuardian')) as [
    string,
    number,
    Hex.Hex,
    number,
    number,
  ];
  return { guardian, delay, commitment, vetoes, barredUntil };
}
