import { misfitOf, type Recorded } from '../db/migrations.ts';
import { MIGRATIONS } from '../db/schema.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Whether this vault can use the tables, by the migrations that are recorded with them. */
export function checkSchema(recorded: Recorded): Finding {
  if (recorded.size === 0) return warn('schema', 'there are no tables yet', 'the first start creates them');
  const misfit = misfitOf(recorded);
  if (misfit !== undefined) return fail('schema', `the database ${misfit.problem}`, misfit.remedy);
  const version = Math.max(...recorded.keys());
  const isCurrent = MIGRATIONS.every((migration) => recorded.has(migration.version));
  if (isCurrent) return ok('schema', `version ${version}, up to date`);
  return warn('schema', `version ${version} of ${MIGRATIONS.length}`, 'the next start updates it, or vault migrate');
}
