// For batches that change registrations, or the known keys of their controllers.
export {
  CHALLENGE_NOTICES,
  type ChallengeNoticeKind,
  leaseChallengeNotices,
  type Reach,
  settleChallengeNotice,
} from './challenge-notice-store.ts';
export {
  beginWait,
  CHALLENGES,
  clearChallenge,
  endLeased,
  judgeChallenge,
  type LeasedChallenge,
  openChallenge,
  putOffChallenge,
  resumeWaits,
  selectAnyMove,
  selectChallenge,
  selectUnopened,
  sweepChallenges,
  wakeChallenge,
} from './challenge-queue-store.ts';
export {
  type AwaitedMove,
  IS_KEPT_OUT,
  isChallengerOf,
  isSlow,
  isUnclaimed,
  KEPT_OUT_TO,
  MAY_TAKE,
  selectAwaitedMove,
  selectChallenged,
  toAwaitedMove,
  WAITS,
  withdrawChallengers,
  withdrawWaiting,
} from './challenge-store.ts';
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
  recallLateAccounts,
  recheckKeys,
  rememberKeys,
  selectAccountKeys,
  selectAnyDueAccount,
  selectStaleAccounts,
  toKnownKeys,
} from './keys-store.ts';
export {
  leasePasskeyNotices,
  notePasskeyUse,
  PASSKEY_NOTICES,
  type PasskeyUse,
  settlePasskeyNotice,
  sweepPasskeyNotices,
} from './known-key-store.ts';
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
export { letGo, takeAtOnce } from './take-store.ts';
export { barUndone } from './undo-store.ts';
