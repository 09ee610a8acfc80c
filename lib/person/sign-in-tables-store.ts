import { listed, namedBy, OF_ACCOUNTS, OF_IDENTIFIERS } from './where-store.ts';

/** The tables with a person's sign-ins. */
export const SIGN_IN_TABLES = {
  authorization_codes: {
    about: 'a code by which an app learns who signed in',
    kept: 'some minutes, or until its access token has ended (`ID_TOKEN_SECONDS`)',
    erasure: 'removed',
    why: '',
    where: `did IN ${namedBy('did')} AND credential_id IN ${namedBy('credential_id')}`,
    key: 'proof',
    scan: 'text',
  },
  known_keys: {
    about: 'that a key was at work for the account, and its last signature counter, where its authenticator counts',
    kept: 'for good',
    erasure: 'removed',
    why: '',
    where: OF_ACCOUNTS,
    key: 'account, key',
  },
  passkey_notices: {
    about: 'a mail about a passkey that is new to the account',
    kept: '30 days',
    erasure: 'removed',
    why: 'no notice of it is sent any more',
    where: `(${OF_IDENTIFIERS} OR did IN ${listed('dids')})`,
    key: 'id',
  },
  signins: {
    about: 'a sign-in by the passkey at an app, or one that was refused',
    kept: '`KEEP_SIGNINS_DAYS`',
    erasure: 'removed',
    why: 'its event goes too',
    where: `did IN ${listed('dids')}`,
    key: 'id',
  },
} as const;
