/** Events as statements, for the batch of the change that they report: `emit…` writes them, the others are parts of `emitEvents`. */
export {
  type EventRows,
  emitEvent,
  emitEvents,
  emitRegistrationsFailed,
  emitSessions,
  maskedIdentifier,
  registrationRows,
  sessionRows,
} from './store.ts';
