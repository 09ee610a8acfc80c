import type { Statement, Store } from '../db/database.ts';

/** The name under which the operator secret acts. */
export const ROOT_OPERATOR = 'root';

/** The name under which commands act: the machine decides who may run them. */
export const COMMAND_OPERATOR = 'command';

/** A store whose events hold the name of the operator who acts: those of a service that knows no operator too. */
export function actingStore<S extends Store>(db: S, operator: string): S {
  const named = (statements: readonly Statement[]) =>
    statements.map((one) => (one.emits ? { ...one, args: { ...one.args, event_operator: operator } } : one));
  return {
    ...db,
    write: (...statements) => db.write(...named(statements)),
    writeLater: (build) => db.writeLater(() => named(build())),
  };
}
