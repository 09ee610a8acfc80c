import { VaultError } from '../base/error.ts';
import type { Platform } from '../platform.ts';
import type { RefusedCheck } from '../verification/find-code.ts';
import type { Credential } from './issue.ts';

const REFUSALS = ['proof_invalid', 'not_found', 'identifier_taken', 'rate_limited'] as const;

/** Counts how the issuing of a credential ended. */
export async function countOutcome<T extends Credential | RefusedCheck>(
  { metrics }: Pick<Platform, 'metrics'>,
  issue: () => Promise<T>,
): Promise<T> {
  const counter = metrics.counter('vault_credentials_total');
  try {
    const answer = await issue();
    counter.add({ outcome: 'credential' in answer ? 'issued' : 'not_verified' });
    return answer;
  } catch (error) {
    const refusal = REFUSALS.find((one) => error instanceof VaultError && error.code === one);
    counter.add({ outcome: refusal ?? 'failed' });
    throw error;
  }
}
