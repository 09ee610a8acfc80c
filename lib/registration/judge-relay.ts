import { rpcError, VaultError } from '../base/error.ts';
import { type RegisterForCall, type RegistryRefusal, simulate } from '../chain/registry.ts';
import { readEtherBalance } from '../chain/signer-state.ts';
import type { Platform } from '../platform.ts';
import type { Relay } from '../relay/relay.ts';
import { refusalOf } from './claim.ts';
import { type NewClaim, selectClaimRefusal } from './claim-store.ts';
import { type ProofFault, proofInvalid } from './proof-fault.ts';

type Ctx = Pick<Platform, 'config' | 'db' | 'rpc' | 'metrics'> & { readonly relay: Relay };

/**
 * Throws the reasons to refuse the claim now: those of the database first, since the chain costs more. The write
 * decides on them again; the chain's answer does not depend on the row.
 */
export async function judgeRelay(ctx: Ctx, candidate: NewClaim, call: RegisterForCall): Promise<void> {
  const [row = {}] = await ctx.db.read(selectClaimRefusal(candidate));
  const early = refusalOf(ctx, row, candidate);
  if (early) throw early;
  await checkChain(ctx, call);
}

/**
 * Checks that the registry would accept it now and that the registrar can pay. Throws 409 as the registry refuses,
 * 503 `relay_unfunded`, 502 `rpc_error`.
 */
async function checkChain(ctx: Ctx, call: RegisterForCall): Promise<void> {
  const address = await ctx.relay.address();
  const blocker = await ctx.relay.blocker();
  if (blocker === 'chain_reset') throw rpcError(blocker);
  const [simulation, balance] = await Promise.all([simulate(ctx, address, call), readEtherBalance(ctx, address)]);
  if ('refusal' in simulation) throw refusedOnChain(ctx, simulation.refusal, false);
  if (balance < ctx.config.relayMinBalance) throw new VaultError('relay_unfunded');
}

/**
 * The registry's reason as the specification's error. A sent relay that failed for any other reason is a fault of
 * ours.
 */
export function refusedOnChain(
  { config }: Pick<Ctx, 'config'>,
  why: RegistryRefusal | string | null,
  wasSent: boolean,
): VaultError {
  if (why === 'did_taken') return new VaultError('did_taken');
  if (why === 'controller_taken') return new VaultError('credential_already_registered');
  const fault = CONSENT_FAULTS[why ?? ''];
  if (fault) return proofInvalid(fault, config);
  if (!wasSent) return rpcError(`the registry refuses: ${why}`);
  return new VaultError('internal_error', { cause: new Error(`the registration failed: ${why}`) });
}

/** The second registry's answers about a consent, as faults of the proof. */
const CONSENT_FAULTS: Readonly<Record<string, ProofFault>> = {
  consent_expired: 'expired',
  consent_invalid: 'signature',
  not_key_of: 'account',
};
