// For the batches that change registrations.
export { CREDENTIAL_ANSWER, openCredential, settleHolders } from './store.ts';
