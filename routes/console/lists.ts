import * as v from 'valibot';
import { isoTime } from '../../lib/base/clock.ts';
import { badRequest } from '../../lib/base/error.ts';
import { PAGE_ROWS_MAX } from '../../lib/constants.ts';
import { appName, channelName } from '../fields.ts';
import type { Answers } from '../http/describe.ts';
import { optional, word } from '../http/fields.ts';
import type { Reply } from '../http/response.ts';
import { type TableFile, tableFile } from '../http/table-file.ts';
import { pathOf, queryOf } from '../http/target.ts';

/** A moment in ISO 8601 with its zone, in milliseconds. */
function momentText(name: string) {
  const message = `Invalid ${name}: expected a time such as 2026-11-23T08:00:00Z`;
  return v.pipe(
    v.string(message),
    v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/, message),
    v.transform((text) => Date.parse(text)),
    v.safeInteger(message),
    v.minValue(0, message),
  );
}

const limitText = v.pipe(
  v.string('Invalid limit'),
  v.regex(/^[1-9]\d{0,3}$/, 'Invalid limit'),
  v.transform(Number),
  v.maxValue(PAGE_ROWS_MAX, `Invalid limit: at most ${PAGE_ROWS_MAX}`),
);

/** The filters of every list; `from` is included, `to` is not. */
export const filterFields = {
  channel: optional(channelName),
  app: optional(appName),
  from: optional(momentText('from')),
  to: optional(momentText('to')),
  cursor: optional(word('cursor', 96)),
};

/** The rows of one answer. */
export const pageFields = { limit: optional(limitText) };

/** The form of a file. */
export const fileFields = {
  format: optional(v.picklist(['csv', 'jsonl'], 'Invalid format. Must be "csv" or "jsonl"')),
};

/** Throws 400 with the message if anything is asked for. */
export function needNone(query: Readonly<Record<string, unknown>>, message: string): void {
  if (Object.values(query).some((value) => value !== undefined)) throw badRequest(message);
}

/** A file of rows. */
export const EXPORT_ANSWERS = {
  200: {
    media: 'text/csv',
    otherMedia: 'application/x-ndjson',
    about: 'A line for each row. `Link: <…>; rel="next"` names the file with the rest, where there is one',
  },
} as const satisfies Answers;

interface Exporting extends Omit<TableFile, 'steps' | 'next' | 'name'> {
  readonly request: Request;
  readonly now: number;
  readonly list: string;
  /** Begins the export; `next` is a cursor. */
  readonly open: () => Promise<Pick<TableFile, 'steps' | 'next'>>;
}

/** The file of an export, named by its list and the day. */
export async function answerFile({ request, now, list, open, ...file }: Exporting): Promise<Reply> {
  // A HEAD gets no rows, so no export begins.
  const { steps, next } = request.method === 'HEAD' ? { steps: noSteps(), next: null } : await open();
  const name = `${list}-${isoTime(now).slice(0, 10)}`;
  return tableFile({ ...file, name, steps, next: next === null ? null : withCursor(request.url, next) });
}

function withCursor(url: string, cursor: string): string {
  const query = new URLSearchParams(queryOf(url));
  query.set('cursor', cursor);
  return `${pathOf(url)}?${query}`;
}

async function* noSteps(): AsyncGenerator<readonly object[]> {}
