import type { Statement } from '../db/database.ts';
import type { NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';

/** Records the mark of a key. Emits `event` when another mark was recorded before; the first one emits nothing. */
export function recordKeyMark(name: string, mark: string, event: NewEvent): readonly Statement[] {
  return [
    emitEvent(event, {
      when: { sql: `EXISTS (SELECT 1 FROM key_marks WHERE name = :name AND mark <> :mark)`, args: { name, mark } },
    }),
    {
      sql: `INSERT INTO key_marks (name, mark) VALUES (:name, :mark)
        ON CONFLICT (name) DO UPDATE SET mark = excluded.mark WHERE mark <> excluded.mark`,
      args: { name, mark },
    },
  ];
}
