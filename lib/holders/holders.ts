// For the batches that change registrations.
export {
  CREDENTIAL_ANSWER,
  openCredential,
  recheckDids,
  recheckHandles,
  recheckMoved,
  settleHolders,
} from './store.ts';
