import { count } from './limit-settings.ts';
import { anyText, apps, unsetOr } from './parsers.ts';
import { plain } from './setting.ts';
import { publicHosts } from './url-parsers.ts';

/** The apps of a vault, and how people sign in to them. */
export const APP_SETTINGS = {
  APPS: plain('names that requests may carry in X-Vault-App', apps, '', { example: 'shop,forum' }),
  CLIENTS: plain(
    'JSON file of the apps of APPS that people sign in to by OpenID Connect: `{"<app>":{"redirect_uris":[…],"secrets":[…]}}`',
    unsetOr(anyText),
    undefined,
    { example: '/etc/vault/clients.json', requires: 'REGISTRAR_PRIVATE_KEY' },
  ),
  CLIENT_METADATA_HOSTS: plain(
    'hosts whose https URLs are taken as client ids, for agents (MCP): the documents there are fetched',
    publicHosts,
    '',
    { example: 'claude.ai,vscode.dev', needs: 'CLIENTS' },
  ),
  ID_TOKEN_SECONDS: count('lifetime of ID tokens and access tokens of apps, in seconds', 3_600, 60, 86_400, {
    needs: 'CLIENTS',
  }),
  SIGNING_KEY_DAYS: count('days after which other keys sign ID tokens and credentials', 90, 2, 3_650),
};
