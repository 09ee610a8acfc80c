import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openDatabase } from '../../commands/storage/database.ts';
import { systemClock } from '../../lib/base/clock.ts';
import { createMetrics } from '../../lib/base/metrics.ts';
import { createStore } from '../../lib/db/store.ts';
import { type LibsqlServer, libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../support/databases.ts';
import { isLong } from '../support/long.ts';

const WRITERS = 4;
const READERS = 4;
const SECONDS = isLong ? 120 : 8;

const folder = temporaryFolder();
let server: LibsqlServer | undefined;
beforeAll(async () => {
  // As docs/operating.md says for more than two vaults.
  server = await startLibsql({ dir: folder.path, more: ['--checkpoint-interval-s', '1'] });
});
afterAll(async () => {
  await server?.stop();
  folder.remove();
});

test.skipIf(!libsqlProgram())(
  `${WRITERS} vaults with short commits beside readers: every write goes on, for ${SECONDS} s`,
  async () => {
    const open = async () => {
      const database = await openDatabase({ url: server?.url ?? '', maxConnections: 4 });
      const settings = { database, clock: systemClock, metrics: createMetrics(), maxConnections: 4 };
      return createStore({ ...settings, schema: { isCurrent: true } });
    };
    const first = await open();
    await first.write({ sql: 'CREATE TABLE turns (writer INTEGER, n INTEGER, v TEXT) STRICT', args: {} });
    const end = performance.now() + SECONDS * 1000;
    const written = await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const db = await open();
        let n = 0;
        while (performance.now() < end) {
          const rows = Array.from({ length: 20 }, () => ({
            sql: 'INSERT INTO turns VALUES (:writer, :n, :v)',
            args: { writer, n, v: 'x'.repeat(3_000) },
          }));
          await db.write(...rows);
          n++;
        }
        return n;
      }).concat(
        Array.from({ length: READERS }, async () => {
          const db = await open();
          const sql = 'SELECT count(*) AS n FROM (SELECT v FROM turns ORDER BY rowid DESC LIMIT 2000)';
          while (performance.now() < end) await db.read({ sql, args: {} });
          return 0;
        }),
      ),
    );
    const [kept] = await first.read({ sql: 'SELECT count(*) AS n FROM turns', args: {} });
    expect(Number(kept?.['n'])).toBe(20 * written.reduce((sum, n) => sum + n, 0));
    expect(written.slice(0, WRITERS).every((n) => n > 0)).toBe(true);
  },
);
