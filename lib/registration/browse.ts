import { type Browsed, type BrowseQuery, browse, exportRows } from '../db/browse.ts';
import { columnsAre, type NewestFirst } from '../db/newest-first.ts';
import { auditExport, type ExportFormat } from '../events/exports.ts';
import type { Channel } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { type ShownRegistration, shownRows } from './operator.ts';
import type { RegistrationStatus } from './store.ts';

/** The columns of an export. */
export const REGISTRATION_COLUMNS: readonly (keyof ShownRegistration)[] = [
  'id',
  'registeredAt',
  'app',
  'channel',
  'identifier',
  'status',
  'failure',
  'lost',
  'final',
  'holder',
  'proven',
  'did',
  'credentialId',
  'smartAccount',
  'txHash',
  'blockNumber',
];

/** A part of the list of registrations. */
export interface RegistrationFilter extends BrowseQuery {
  readonly channel?: Channel | undefined;
  readonly status?: RegistrationStatus | undefined;
  readonly app?: string | undefined;
}

/** Registrations, newest first, failed ones too; identifiers are masked. Throws 400 for a wrong cursor. */
export async function browseRegistrations(
  { db }: Pick<Platform, 'db'>,
  filter: RegistrationFilter,
): Promise<{ readonly registrations: readonly ShownRegistration[] } & Browsed> {
  const { rows, page } = await browse(db, REGISTRATIONS_LIST, filter, conditionOf(filter));
  return { registrations: shownRows(rows, false), ...page };
}

/** The same step by step, for a file. The audit channel gets an event first. */
export async function exportRegistrations(
  ctx: Pick<Platform, 'db' | 'clock'>,
  filter: RegistrationFilter,
  format: ExportFormat,
): Promise<{ readonly steps: AsyncGenerator<readonly ShownRegistration[]>; readonly next: string | null }> {
  const { steps, next } = await exportRows(ctx.db, REGISTRATIONS_LIST, filter, conditionOf(filter));
  await auditExport(ctx, { list: 'registrations', format, filter });
  return { steps: shownSteps(steps), next };
}

async function* shownSteps(steps: Awaited<ReturnType<typeof exportRows>>['steps']) {
  for await (const rows of steps) yield shownRows(rows, false);
}

function conditionOf({ channel, status, app }: RegistrationFilter) {
  return columnsAre({ channel, status, app });
}

/** Registrations, newest first. */
const REGISTRATIONS_LIST: NewestFirst = {
  table: 'registrations',
  index: 'registrations_by_time',
  at: 'registered_at',
  tie: 'id',
  lowest: 0,
};
