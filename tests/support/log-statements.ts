// Loaded before a program (`BUN_OPTIONS=--preload …`): prints each statement that runs on the embedded database.
import { Database } from 'bun:sqlite';

const { prepare } = Database.prototype;

Database.prototype.prepare = function (this: Database, sql: string, ...rest: unknown[]) {
  const statement = Reflect.apply(prepare, this, [sql, ...rest]);
  for (const name of ['all', 'run'] as const) {
    const original = statement[name];
    statement[name] = (...args: never[]) => {
      console.error(`ran: ${sql.replace(/\s+/g, ' ')}`);
      return Reflect.apply(original, statement, args);
    };
  }
  return statement;
} as typeof prepare;
