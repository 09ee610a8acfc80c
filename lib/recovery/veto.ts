import { sleep } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { readGuardedAccount } from '../chain/guarded-account.ts';
import { simulateRecoveryCall, vetoRecoveryData } from '../chain/recovery-calls.ts';
import { readEtherBalance } from '../chain/signer-state.ts';
import type { Relay } from '../relay/relay.ts';
import { findCalls, queueCall, type RelayRole, type RelayRow } from '../relay/requests.ts';
import { mayBeVetoed, recallRecoveries, reopenRecovery } from './change-store.ts';
import type { GuardianContext } from './context.ts';
import { notePending } from './discover.ts';
import { RECOVERY_WAIT_MS, RECOVERY_WAIT_POLL_MS } from './start.ts';
import { type Recovery, selectByNumber, selectNewest, selectOpen, selectRecovery, toRecovery } from './store.ts';

/** The vault's own parts, and the registrar's outbox, which pays where the guardian cannot. */
type Ctx = GuardianContext & { readonly relay: Relay | undefined };

/** A veto that an owner's key signed; the account lower-case, the signature 0x-hex. */
export interface CarriedVeto {
  readonly account: string;
  readonly signature: string;
}

/**
 * Carries an owner's veto to the chain and pays for it, once for each recovery. It is tried first, so that the vault
 * pays for no bad one, and only an unchanged account is called. Throws 404 `not_found` when nothing is pending that
 * this vault guards, 403 `veto_invalid`, 503 `guardian_unfunded`, 502 `rpc_error`.
 */
export async function carryVeto(ctx: Ctx, veto: CarriedVeto): Promise<{ vetoed: boolean; txHash: string | null }> {
  const { config, clock, db } = ctx;
  const callData = vetoRecoveryData(veto.signature);
  const recovery = (await findPending(ctx, veto.account)) ?? (await findVetoed(ctx, veto.account, callData));
  if (!recovery) throw new VaultError('not_found');
  const sent = await liveVeto(ctx, recovery.id);
  if (sent) return waitForVeto(ctx, recovery, sent.role);
  const { role, address } = await choosePayer(ctx);
  const simulation = await simulateRecoveryCall(ctx, { from: address, to: veto.account, data: callData });
  if ('refusal' in simulation) {
    if (simulation.refusal === 'no_recovery') throw new VaultError('not_found');
    throw new VaultError('veto_invalid', { reason: simulation.refusal });
  }
  const tries = (await findCalls(db, recovery.id)).filter(({ kind }) => kind === 'veto').length;
  const to = { chainId: config.chainId, target: veto.account } as const;
  const call = { kind: 'veto', role, ...to, callData, tries, budget: null } as const;
  await db.write(queueCall(call, mayBeVetoed(recovery), clock.now()));
  return waitForVeto(ctx, recovery, role);
}

/** The account's pending recovery, as this vault knows it or as the chain shows it. */
async function findPending(ctx: Ctx, account: string): Promise<Recovery | undefined> {
  const { config, db } = ctx;
  const guarded = await readGuardedAccount(ctx, account);
  const pending = guarded?.recovery;
  if (!guarded || !pending) return undefined;
  await notePending(ctx, account, guarded);
  const open = (await db.read(selectOpen(config.chainId, account))).map(toRecovery);
  const [row] = await db.read(selectByNumber(config.chainId, account, pending.id));
  return open.findLast(({ keyX, keyY }) => keyX === pending.x && keyY === pending.y) ?? (row && toRecovery(row));
}

/** The account's newest recovery, if this very veto was carried for it: the answer to the first request was lost. */
async function findVetoed({ config, db }: Ctx, account: string, callData: string): Promise<Recovery | undefined> {
  const [row] = await db.read(selectNewest(config.chainId, account));
  const recovery = row && toRecovery(row);
  const calls = recovery ? await findCalls(db, recovery.id) : [];
  const isCarried = calls.some(
    (call) => call.kind === 'veto' && call.status !== 'failed' && call.callData === callData,
  );
  return isCarried ? recovery : undefined;
}

/** The blockers under which a veto is carried: two are about registrations alone, one may be a node's wrong answer. */
const CARRIES: ReadonlySet<Awaited<ReturnType<Relay['blocker']>>> = new Set([
  null,
  'low_balance',
  'not_registrar',
  'no_registry',
  'nonce_jump',
]);

/** The key that pays: the guardian's, else the registrar's. Throws 503 `guardian_unfunded`. */
async function choosePayer(ctx: Ctx): Promise<{ readonly role: RelayRole; readonly address: string }> {
  const payers: readonly (readonly [RelayRole, Relay | undefined])[] = [
    ['guardian', ctx.guardian.relay],
    ['registrar', ctx.relay],
  ];
  for (const [role, relay] of payers) {
    if (!relay) continue;
    const [address, blocker] = [await relay.address(), await relay.blocker()];
    if (CARRIES.has(blocker) && (await readEtherBalance(ctx, address)) >= ctx.config.relayMinBalance)
      return { role, address };
  }
  throw new VaultError('guardian_unfunded');
}

async function liveVeto({ db }: Ctx, recoveryId: number): Promise<RelayRow | undefined> {
  return (await findCalls(db, recoveryId)).findLast(({ kind, status }) => kind === 'veto' && status !== 'failed');
}

/** Waits a while until a block holds the veto. */
async function waitForVeto(ctx: Ctx, recovery: Recovery, role: RelayRole) {
  const { config, clock, db } = ctx;
  const relay = role === 'guardian' ? ctx.guardian.relay : ctx.relay;
  const deadline = clock.monotonic() + RECOVERY_WAIT_MS;
  for (let turns = relay?.runNow(); ; turns = relay?.runIfDue()) {
    await Promise.race([turns, sleep(clock, RECOVERY_WAIT_POLL_MS)]);
    const sent = await liveVeto(ctx, recovery.id);
    if (!sent) throw new VaultError('veto_invalid');
    const isMined = sent.status === 'mined' || sent.status === 'confirmed';
    if (isMined || clock.monotonic() >= deadline) {
      const { account, contractId } = recovery;
      if (contractId !== null) await db.write(reopenRecovery(config.chainId, account, contractId, clock.now()));
      await db.write(recallRecoveries(config.chainId, account, false, clock.now()));
      const [row] = await db.read(selectRecovery(recovery.id));
      const isVetoed = isMined || (row !== undefined && toRecovery(row).status === 'vetoed');
      return { vetoed: isVetoed, txHash: sent.txHash || null };
    }
    await sleep(clock, RECOVERY_WAIT_POLL_MS);
  }
}
