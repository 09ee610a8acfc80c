import { apps } from './parsers.ts';
import { plain } from './setting.ts';
import { redirects } from './url-parsers.ts';

/** The apps of a vault, and where people who sign up for one go back to. */
export const APP_SETTINGS = {
  APPS: plain('names that requests may carry in X-Vault-App', apps, '', { example: 'shop,forum' }),
  REGISTER_REDIRECTS: plain(
    'apps of APPS that people sign up for at /register, each with its exact redirect URI (app=https://…); a comma is %2C',
    redirects,
    '',
    { example: 'shop=https://shop.example/back', requires: 'REGISTRAR_PRIVATE_KEY' },
  ),
};
