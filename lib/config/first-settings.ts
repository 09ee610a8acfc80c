import type { SettingName } from './settings.ts';

/** Settings that are decided together on the first day, with a title and an explanation. `vault init` asks for them. */
export interface FirstTopic {
  readonly title: string;
  readonly about: string;
  readonly names: readonly SettingName[];
}

/** The name of the group of all of them. */
export const START_HERE = 'Start here';

/** In the order in which they are asked: a later topic's suggestions follow from the answers before. */
export const FIRST_TOPICS = {
  address: {
    title: 'Address',
    about: 'The https origin at which people reach the vault, behind a proxy. While unset, only this machine does.',
    names: ['BASE_URL'],
  },
  passkeys: {
    title: 'Passkeys',
    about:
      'The domain that passkeys belong to: the host of BASE_URL, or a domain above it whose other sites use them too. Choose it before the first sign-up: accounts depend on it for good.',
    names: ['RP_IDS'],
  },
  proxy: {
    title: 'Proxy',
    about:
      'Where the proxy is that ends TLS and says who the client is. With ADMIN_PORT, /metrics and the console are for this machine alone.',
    names: ['TRUSTED_PROXIES', 'ADMIN_PORT'],
  },
  data: {
    title: 'Data',
    about: 'The folder of the database, and of the secrets that the vault makes.',
    names: ['DATA_DIR'],
  },
  mail: {
    title: 'Mail',
    about: 'How codes are mailed. While unset, they are printed to the log.',
    names: ['EMAIL_PROVIDER', 'EMAIL_FROM', 'SMTP_URL'],
  },
  sms: {
    title: 'SMS',
    about: 'How codes are sent to phones, and to which countries: each message costs. none switches it off.',
    names: ['SMS_PROVIDER', 'SMS_COUNTRIES', 'TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_VERIFY_SERVICE_SID'],
  },
  chain: {
    title: 'Chain',
    about: 'A node of the chain. The public endpoint, which is the default, limits requests.',
    names: ['RPC_URL', 'CHAIN_ID'],
  },
  registrar: {
    title: 'Registrar',
    about:
      'The key of the account that registers people and pays for it. Sign-in for apps needs it. Without one, apps register people themselves.',
    names: ['REGISTRAR_PRIVATE_KEY'],
  },
  apps: {
    title: 'Apps',
    about: 'The apps that people sign in to, and the file that says where each gets them back.',
    names: ['APPS', 'CLIENTS'],
  },
  brand: {
    title: 'Name',
    about: 'The name of the service on pages, in mails and in the dialogs of passkeys.',
    names: ['BRAND_NAME'],
  },
} as const satisfies Readonly<Record<string, FirstTopic>>;

/** The settings of all of them. */
export const FIRST_SETTINGS: readonly SettingName[] = Object.values<FirstTopic>(FIRST_TOPICS).flatMap(
  ({ names }) => names,
);
