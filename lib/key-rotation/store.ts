import type { Statement } from '../db/database.ts';
import type { NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { endOperators } from '../tokens/operators.ts';

/**
 * Records the mark of a key. When another mark was recorded before, emits `event` and ends all operators' tokens: a
 * holder of the former key may have made some. The first mark does neither.
 */
export function recordKeyMark(name: string, mark: string, event: NewEvent): readonly Statement[] {
  const when = { sql: `EXISTS (SELECT 1 FROM key_marks WHERE name = :name AND mark <> :mark)`, args: { name, mark } };
  return [
    ...endOperators(when, event.at),
    emitEvent(event, { when }),
    {
      sql: `INSERT INTO key_marks (name, mark) VALUES (:name, :mark)
        ON CONFLICT (name) DO UPDATE SET mark = excluded.mark WHERE mark <> excluded.mark`,
      args: { name, mark },
    },
  ];
}

/** The mark of each key that the database was used with last. */
export function selectKeyMarks(): Statement {
  return { sql: 'SELECT name, mark FROM key_marks', args: {} };
}
