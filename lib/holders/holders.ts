// For the batches that change registrations.
export { CREDENTIAL_ANSWER, openCredential, recheckHandles, settleHolders } from './store.ts';
