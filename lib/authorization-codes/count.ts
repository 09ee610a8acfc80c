import type { Platform } from '../platform.ts';

/** What becomes of a code. */
export type CodeOutcome = 'issued' | 'exchanged' | 'refused';

/** Counts a code of a client. */
export function countCode(
  { config, metrics }: Pick<Platform, 'config' | 'metrics'>,
  clientId: string,
  outcome: CodeOutcome,
): void {
  metrics.counter('vault_authorization_codes_total').add({ client: clientLabel(config, clientId), outcome });
}

/** The name of an app; of a client that no setting names, one word for all: a label never holds what others choose. */
function clientLabel({ apps }: Pick<Platform['config'], 'apps'>, clientId: string): string {
  return apps.includes(clientId) ? clientId : 'other';
}
