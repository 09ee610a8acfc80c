import { type Clock, isoTime } from '../base/clock.ts';
import type { Store } from '../db/database.ts';
import { DEFAULT_APP, eventOf } from './catalogue.ts';
import { emitEvent } from './emit.ts';

/** How a list is written to a file. */
export type ExportFormat = 'csv' | 'jsonl';

/** An export: its list, and which part of it. */
export interface Export {
  readonly list: string;
  readonly format: ExportFormat;
  readonly filter: object;
}

const TIMES = ['from', 'to'];

/** Puts an export into the audit channel. The filter has no identifier: it is channel, status, app and period. */
export async function auditExport(
  { db, clock }: { readonly db: Pick<Store, 'write'>; readonly clock: Clock },
  { list, format, filter }: Export,
): Promise<void> {
  const parts = Object.entries(filter).filter(([, value]) => value !== undefined);
  const text = parts.map(([name, value]) => `${name}=${TIMES.includes(name) ? isoTime(value) : value}`).join(' ');
  const data = { list, format, filter: text };
  await db.write(emitEvent(eventOf('list.exported', { app: DEFAULT_APP, at: clock.now() }, data)));
}
