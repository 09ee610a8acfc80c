import { VaultError } from '../base/error.ts';
import type { Config } from '../config/config.ts';

/** An app, and where it wants its people back. */
interface Redirect {
  readonly clientId: string;
  readonly redirectUri: string;
}

/** Whether the operator named the app with this URI, compared character by character (RFC 9700 section 4.1.3). */
export function isRedirect(
  { registerRedirects }: Pick<Config, 'registerRedirects'>,
  { clientId, redirectUri }: Redirect,
): boolean {
  return registerRedirects.some(({ app, uri }) => app === clientId && uri === redirectUri);
}

/** Refuses an app and a URI that are not named. Throws 403 `redirect_not_allowed`, the same for both. */
export function demandRedirect(config: Pick<Config, 'registerRedirects'>, redirect: Redirect): void {
  if (!isRedirect(config, redirect)) throw new VaultError('redirect_not_allowed');
}
