// Signs once more for a payment that is not confirmed, with the same account and nonce: at most one can settle.

import { type Hex, quantity } from '../../client/wallet/bytes.ts';
import { batchOf, feeOf, type Operation } from '../../client/wallet/operation.ts';
import { draftOf, signOperation, withSponsor } from '../../client/wallet/send.ts';
import { UnreachableError } from '../../client/wallet/vault.ts';
import * as api from '../wallet/api.ts';
import { SIGNING_MS_MIN } from './constants.ts';
import { EndedError, lacksFee, resend, type World } from './pay.ts';
import { addVersion, type StoredPayment } from './store.ts';

/**
 * `again`: the same call at today's price; `raise`: the version signed last, at higher fees; `void`: an empty call at
 * higher fees, after which the payment cannot be made.
 */
export type Renewal = 'again' | 'raise' | 'void';

/** The account cannot pay the fee, or what is to be paid. */
export class LacksError extends Error {
  override readonly name = 'LacksError';
}

/** Whether the request leaves time to sign this. To cancel there is always time. */
export function canRenew({ endsBy, versions }: StoredPayment, how: Renewal): boolean {
  return isVoid(versions, how) || endsBy - Date.now() >= SIGNING_MS_MIN;
}

/**
 * Asks the price, has the passkey sign, stores the version and sends it; answers the record. Throws `PasskeyError`,
 * `EndedError`, `LacksError`, `RefusedError`, `UnreachableError`: then nothing more was signed.
 */
export async function renew(
  record: StoredPayment,
  how: Renewal,
  { config, enclave }: Pick<World, 'config' | 'enclave'>,
): Promise<StoredPayment> {
  const { account, nonce, versions, entryPoint, endsBy } = record;
  if (!canRenew(record, how)) throw new EndedError();
  if (config.entryPoint?.toLowerCase() !== entryPoint.toLowerCase()) throw new UnreachableError('other contracts');
  const kind = isVoid(versions, how) ? 'void' : 'pay';
  const callData =
    kind === 'void' ? batchOf([]) : versions.find((version) => version.kind === 'pay')?.operation.callData;
  if (callData === undefined) throw new EndedError();
  const [standing, ether] = await Promise.all([api.readStanding(account), api.readToken('native', account.address)]);
  // The bundler's node may be ahead of the vault's.
  const isDeployed = standing.state.isDeployed || record.answer?.aa === 'AA10';
  const seen = { ...standing, state: { ...standing.state, isDeployed } };
  const draft = draftOf(account, seen, { callData, nonce, config });
  const operation = await withSponsor(how === 'again' ? draft : withFees(draft, versions), entryPoint, config, api.gas);
  const [, token = '', amount = '0'] = record.terms.split(' ');
  const transfer = { token: token as Hex, amount: kind === 'void' ? 0n : BigInt(amount) };
  if (lacksFee(transfer, feeOf(operation), ether)) throw new LacksError();
  const end = kind === 'void' ? {} : { endsBy };
  const signed = await signOperation(account, operation, { config, enclave, entryPoint, standing, ...end });
  const changed = await addVersion(record, { kind, ...signed });
  return changed?.state === 'unconfirmed' ? resend(changed) : (changed ?? record);
}

function isVoid(versions: StoredPayment['versions'], how: Renewal): boolean {
  return how === 'void' || (how === 'raise' && versions.at(-1)?.kind === 'void');
}

/** Bundlers and nodes take another operation of the same nonce for a tenth more: an eighth in both fees. */
function withFees(draft: Operation, versions: StoredPayment['versions']): Operation {
  const least = (fee: 'maxFeePerGas' | 'maxPriorityFeePerGas') =>
    versions.reduce((most, { operation }) => {
      const raised = (BigInt(operation[fee]) * 9n + 7n) / 8n;
      return raised > most ? raised : most;
    }, BigInt(draft[fee]));
  return {
    ...draft,
    maxFeePerGas: quantity(least('maxFeePerGas')),
    maxPriorityFeePerGas: quantity(least('maxPriorityFeePerGas')),
  };
}
