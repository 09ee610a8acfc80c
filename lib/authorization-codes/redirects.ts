import { VaultError } from '../base/error.ts';
import type { Config } from '../config/config.ts';

/**
 * Refuses an app that the operator did not name, and any URI but the app's own, compared character by character (RFC
 * 9700 section 4.1.3). Throws 403 `redirect_not_allowed`, the same for both.
 */
export function demandRedirect(
  { registerRedirects }: Pick<Config, 'registerRedirects'>,
  { clientId, redirectUri }: { readonly clientId: string; readonly redirectUri: string },
): void {
  const isNamed = registerRedirects.some(({ app, uri }) => app === clientId && uri === redirectUri);
  if (!isNamed) throw new VaultError('redirect_not_allowed');
}
