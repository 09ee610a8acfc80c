// For the batches that change registrations, or what is known of their controllers' keys.
export {
  type AccountKeys,
  askSoon,
  beginLooks,
  changeKeys,
  endLook,
  hasKey,
  KEY_LOOK_LEASE_MS,
  type KnownKeys,
  type LeasedAccount,
  leaseDueAccounts,
  recheckKeys,
  rememberKeys,
  selectAccountKeys,
  selectAnyDueAccount,
  selectStaleAccounts,
  toKnownKeys,
} from './keys-store.ts';
export {
  CREDENTIAL_ANSWER,
  openCredential,
  recheckDids,
  recheckHandles,
  recheckMoved,
  selectIsRegistered,
  settleCredentials,
  settleHolders,
} from './store.ts';
