import { describe, expect, test } from 'bun:test';
import { MIGRATIONS } from '../../../lib/db/schema.ts';
import { codeOf, read, sources } from '../../support/sources.ts';

/** The tables of a new database, and the one that migrations are recorded in. */
const statements = MIGRATIONS.flatMap((migration) => migration.statements);
const TABLES = ['migrations', ...statements.flatMap((sql) => /^CREATE TABLE (\w+)/.exec(sql)?.[1] ?? [])];

/** The files that `docs/storage.md` names as a table's writers, and why there are several. */
const named = new Map(
  Array.from(
    read('docs/storage.md').matchAll(/^\| `(\w+)` \| (`lib\/[^|]*) \|([^|]*)\|$/gm),
    ([, table, list, why]) => {
      const files = Array.from((list ?? '').matchAll(/`([^`]+)`/g), ([, file]) => file ?? '');
      return [table ?? '', { files, why: (why ?? '').trim() }];
    },
  ),
);

/** By table the files of `lib/` with a statement that writes it, but for the schema with its triggers. */
const found = new Map<string, Set<string>>();
for (const file of sources('lib').filter((one) => !/^lib\/db\/schema/.test(one))) {
  const writes = codeOf(file).matchAll(/\b(?:INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE|DELETE\s+FROM)\s+([a-z_]+)\b/g);
  for (const [, table = ''] of writes) found.set(table, (found.get(table) ?? new Set()).add(file));
}

describe('docs/storage.md names the writers', () => {
  test('of every table, and of no other', () => {
    expect([...named.keys()].sort()).toEqual([...TABLES].sort());
    expect([...found.keys()].filter((table) => !TABLES.includes(table))).toEqual([]);
  });

  test.each(TABLES)('of %s, and they are those that write it', (table) => {
    expect([...(found.get(table) ?? [])].sort()).toEqual([...(named.get(table)?.files ?? [])].sort());
  });

  test.each(TABLES)('of %s: one file, or a reason', (table) => {
    const { files = [], why = '' } = named.get(table) ?? {};
    expect(files.length === 1 || why !== '').toBe(true);
  });
});
