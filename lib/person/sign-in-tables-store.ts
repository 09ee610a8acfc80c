import { listed, namedBy, OF_ACCOUNTS } from './where-store.ts';

/** What sign-ins leave of a person. */
export const SIGN_IN_TABLES = {
  authorization_codes: {
    about: 'a code by which an app learns who signed in',
    kept: 'some minutes',
    erasure: 'removed',
    why: '',
    where: `did IN ${namedBy('did')} AND credential_id IN ${namedBy('credential_id')}`,
    key: 'proof',
    scan: 'text',
  },
  sign_counts: {
    about: 'the last signature counter of a key of the account, where its authenticator counts',
    kept: 'for good',
    erasure: 'removed',
    why: '',
    where: OF_ACCOUNTS,
    key: 'account, key',
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
