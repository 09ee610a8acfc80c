import { MIGRATIONS } from '../db/schema.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Whether this vault and the tables are of one version. */
export function checkSchema(version: number): Finding {
  const newest = Math.max(...MIGRATIONS.map((migration) => migration.version));
  if (version > newest)
    return fail(
      'schema',
      `version ${version}, but this vault supports only ${newest}`,
      'run a vault at least as new as the one that migrated it',
    );
  if (version === newest) return ok('schema', `version ${version}, up to date`);
  return warn('schema', `version ${version} of ${newest}`, 'the next start updates it, or vault migrate');
}
