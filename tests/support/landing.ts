import { clientsFile } from './openid.ts';

/** Settings of a vault that offers all there is; nothing of it is called. */
export const OFFERS_ALL = {
  BRAND_NAME: 'Tea House',
  SUPPORT_ADDRESS: 'help@tea.example',
  BUNDLER_URL: 'http://127.0.0.1:4337',
  DID_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}`,
  HYPERAUTH_FACTORY_ADDRESS: `0x${'22'.repeat(20)}`,
  ACCOUNT_FACTORY_2_ADDRESS: `0x${'33'.repeat(20)}`,
  REGISTRAR_PRIVATE_KEY: `0x${'44'.repeat(32)}`,
  APPS: 'tea',
  CLIENTS: 'clients.json',
};

/** The host with its file. */
export const OFFERS_HOST = clientsFile({ tea: { redirect_uris: ['https://tea.example/back'] } });
