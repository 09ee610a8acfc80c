import type { Statement } from '../db/database.ts';
import type { NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';

/** Notes a key by its mark, and tells of it when it is another than the one noted before. Nothing is told of a first one. */
export function noteMark(name: string, mark: string, told: NewEvent): readonly Statement[] {
  return [
    emitEvent(told, {
      when: { sql: `EXISTS (SELECT 1 FROM key_marks WHERE name = :name AND mark <> :mark)`, args: { name, mark } },
    }),
    {
      sql: `INSERT INTO key_marks (name, mark) VALUES (:name, :mark)
        ON CONFLICT (name) DO UPDATE SET mark = excluded.mark WHERE mark <> excluded.mark`,
      args: { name, mark },
    },
  ];
}
