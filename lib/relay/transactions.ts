import { describeError } from '../base/log.ts';
import type { Fees } from '../chain/fees.ts';
import { isRegistered, type Registering, type RegistryRefusal, registerForData } from '../chain/registry.ts';
import type { Signed, Unsigned } from '../chain/transaction.ts';
import type { Platform } from '../platform.ts';
import { confirmRelay, failRelay } from './change-store.ts';
import type { Signer } from './signer-store.ts';
import type { Attempt, RelayRow } from './store.ts';

/** What the relay's parts have in common: the vault's services, and the registrar's key behind `sign`. */
export interface Relayer extends Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'log' | 'metrics'> {
  readonly signer: Signer;
  readonly sign: (unsigned: Unsigned) => Signed;
}

/** The relay's parts with their signer. The cryptography is loaded here, at first use. */
export async function createRelayer(vault: Omit<Relayer, 'signer' | 'sign'>, key: `0x${string}`): Promise<Relayer> {
  const { signerAddress, signTransaction } = await import('../chain/transaction.ts');
  const signer = { chainId: vault.config.chainId, address: signerAddress(key) };
  return { ...vault, signer, sign: (unsigned) => signTransaction(unsigned, key) };
}

/** The registration as a transaction, with this much gas. */
export function callAttempt(relayer: Relayer, what: Registering, nonce: number, gas: bigint, fees: Fees): Attempt {
  return attemptOf(relayer, 'call', { to: what.registry, data: registerForData(what), gas, nonce, ...fees });
}

/** A transaction that does nothing but spend the nonce, so that those behind it can be mined. */
export function noopAttempt(relayer: Relayer, nonce: number, fees: Fees): Attempt {
  const { address } = relayer.signer;
  return attemptOf(relayer, 'noop', { to: address, data: '0x', gas: NOOP_GAS, nonce, ...fees });
}

function attemptOf(
  { signer, sign }: Relayer,
  kind: Attempt['kind'],
  { gas, maxFee, tip, ...rest }: Omit<Unsigned, 'chainId'>,
): Attempt {
  const signed = sign({ ...rest, chainId: signer.chainId, gas, maxFee, tip });
  return { ...signed, kind, gas, maxFee, tip };
}

/** Sends bytes that are stored already, for the first time or again. A failure changes nothing: what the chain then knows decides what comes next. */
export async function broadcast({ config, rpc, log, metrics }: Relayer, attempt: Attempt): Promise<void> {
  const { hash, kind, raw } = attempt;
  const sent = await rpc.call(config.chainId, 'eth_sendRawTransaction', [raw]).then(
    () => 'accepted',
    (failure) => {
      log({ level: 'debug', event: 'relay_not_accepted', tx: hash, ...describeError(failure) });
      return 'not_accepted';
    },
  );
  metrics.counter('vault_relay_broadcasts_total').add({ kind, outcome: sent });
}

/** Ends a relay that the registry refuses: confirmed when it has the DID with our controller all the same, else failed. Throws 502 `rpc_error`. */
export async function judge(relayer: Relayer, relay: RelayRow, refusal: RegistryRefusal): Promise<void> {
  const isOurs = await isRegistered(relayer, relay);
  const now = relayer.clock.now();
  const ending = isOurs ? confirmRelay(relay, now) : failRelay(relay, refusal, now);
  const results = await relayer.db.write(...ending);
  if (results.some(({ rowsAffected }) => rowsAffected > 0))
    tell(relayer, relay, isOurs ? 'confirmed' : 'failed', { refusal });
}

/** Logs and counts what became of a relay. */
export function tell(
  { log, metrics }: Relayer,
  relay: RelayRow,
  outcome: 'signed' | 'confirmed' | 'submitted' | 'failed',
  more: Readonly<Record<string, unknown>> = {},
): void {
  if (outcome !== 'signed') metrics.counter('vault_registrations_total').add({ outcome });
  log({ level: 'info', event: 'relay', id: relay.id, outcome, ...more });
}

/** What a transaction costs that does nothing. */
const NOOP_GAS = 21_000n;
