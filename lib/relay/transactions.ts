import { describeError } from '../base/log.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import type { TransactionFees } from '../chain/fees.ts';
import type { SignedTransaction, UnsignedTransaction } from '../chain/transaction.ts';
import type { Platform } from '../platform.ts';
import { callDataOf } from './contract-calls.ts';
import type { RelaySigner } from './signer-store.ts';
import type { RelayAttempt, RelayRole, RelayRow } from './store.ts';

/** The services that the relay's parts share: the ground parts, the key's role, the signer and its signing function. */
export interface Relayer extends Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'> {
  readonly predict: PredictAddress;
  readonly role: RelayRole;
  readonly signer: RelaySigner & { readonly role: RelayRole };
  readonly sign: (unsigned: UnsignedTransaction) => SignedTransaction;
}

/** The relay's parts with their signer. The cryptography is loaded here, at first use. */
export async function createRelayer(ctx: Omit<Relayer, 'signer' | 'sign'>, key: `0x${string}`): Promise<Relayer> {
  const { signerAddress, signTransaction } = await import('../chain/transaction.ts');
  const signer = { chainId: ctx.config.chainId, role: ctx.role, address: signerAddress(key) };
  return { ...ctx, signer, sign: (unsigned) => signTransaction(unsigned, key) };
}

/** The relay's call as a signed transaction with this much gas. */
export function callAttempt(
  relayer: Relayer,
  relay: RelayRow,
  nonce: number,
  gas: bigint,
  fees: TransactionFees,
): RelayAttempt {
  return attemptOf(relayer, 'call', { to: relay.target, data: callDataOf(relay), gas, nonce, ...fees });
}

/** A transaction that only spends the nonce, so that those behind it can be mined. */
export function noopAttempt(relayer: Relayer, nonce: number, fees: TransactionFees): RelayAttempt {
  const { address } = relayer.signer;
  return attemptOf(relayer, 'noop', { to: address, data: '0x', gas: NOOP_GAS, nonce, ...fees });
}

function attemptOf(
  { signer, sign }: Relayer,
  kind: RelayAttempt['kind'],
  { gas, maxFee, tip, ...rest }: Omit<UnsignedTransaction, 'chainId'>,
): RelayAttempt {
  const signed = sign({ ...rest, chainId: signer.chainId, gas, maxFee, tip });
  return { ...signed, kind, gas, maxFee, tip };
}

/**
 * Sends stored bytes, for the first time or again. A failure changes nothing: the next turn decides by the chain's
 * state.
 */
export async function broadcast({ config, rpc, log, metrics, role }: Relayer, attempt: RelayAttempt): Promise<void> {
  const { hash, kind, raw } = attempt;
  const sent = await rpc.call(config.chainId, 'eth_sendRawTransaction', [raw]).then(
    () => 'accepted' as const,
    (failure) => {
      log({ level: 'debug', event: 'relay_not_accepted', tx: hash, ...describeError(failure) });
      return 'not_accepted' as const;
    },
  );
  metrics.counter('vault_relay_broadcasts_total').add({ signer: role, kind, outcome: sent });
}

/** Logs and counts a relay's outcome. */
export function recordOutcome(
  { log, metrics }: Relayer,
  { id, kind }: RelayRow,
  outcome: 'signed' | 'confirmed' | 'submitted' | 'failed',
  more: Readonly<Record<string, unknown>> = {},
): void {
  if (outcome !== 'signed' && kind === 'registration') metrics.counter('vault_registrations_total').add({ outcome });
  log({ level: 'info', event: 'relay', id, kind, outcome, ...more });
}

/** The gas of a transaction that does nothing. */
const NOOP_GAS = 21_000n;
