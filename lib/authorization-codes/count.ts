import type { Platform } from '../platform.ts';

/** What becomes of a code. */
export type CodeOutcome = 'issued' | 'exchanged' | 'refused';

/** Where a sign-in is refused: the app's link, what the person does at the page, or the app's exchange. */
export type SignInStage = 'link' | 'page' | 'token';

type Ctx = Pick<Platform, 'config' | 'metrics'>;

/** Counts a code of a client. */
export function countCode({ config, metrics }: Ctx, clientId: string, outcome: CodeOutcome): void {
  metrics.counter('vault_authorization_codes_total').add({ client: clientLabel(config, clientId), outcome });
}

/** Counts a refusal by its reason: a word of the vault's own. `clientId` is undefined where there is no such client. */
export function countRefusal(
  { config, metrics }: Ctx,
  clientId: string | undefined,
  stage: SignInStage,
  reason: string,
): void {
  metrics.counter('vault_client_refusals_total').add({ client: clientLabel(config, clientId), stage, reason });
}

/** The name of an app; of a client that no setting names, one word for all: a label never holds what others choose. */
function clientLabel({ apps }: Pick<Platform['config'], 'apps'>, clientId: string | undefined): string {
  return clientId !== undefined && apps.includes(clientId) ? clientId : OTHER_CLIENTS;
}

/** The label of clients that `CLIENTS` does not name. */
export const OTHER_CLIENTS = '(other)';
