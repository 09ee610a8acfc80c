import { MIGRATIONS } from './schema.ts';

/** The versions of all migrations. The program has them as constants, so that a start reads no migration. */
export const VERSIONS: readonly number[] = MIGRATIONS.map(({ version }) => version);
