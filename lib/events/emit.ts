// Statements that insert events, for the batch of the change that they report; the others are parts of `emitEvents`.
export {
  type EventRows,
  emitEvent,
  emitEvents,
  emitEventsOf,
  emitRegistrationsFailed,
  emitSessions,
  maskedIdentifier,
  registrationRows,
  sessionRows,
  takenOverRows,
} from './store.ts';
