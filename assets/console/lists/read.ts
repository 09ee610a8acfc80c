import type { Api } from '../api.ts';
import { ROWS_REQUESTS_MAX } from '../limits.ts';
import type { Page } from './rows.ts';

/** Rows of a list, and where it goes on. */
export interface Read<Row> {
  readonly rows: readonly Row[];
  readonly page: Page;
  /** Null where rows were added to others. */
  readonly total: Page['total'];
}

/**
 * Reads so many rows (all of a look-up), or as many as some requests find: where few rows meet a filter, each request
 * looks at 10,000. `cursor` is the `next` of the page before.
 */
export async function readRows<Row>(
  api: Api,
  list: string,
  {
    query,
    limit,
    cursor,
  }: { query: Readonly<Record<string, string>>; limit: number | undefined; cursor: string | null },
): Promise<Read<Row>> {
  const rows: Row[] = [];
  let total: Page['total'] = null;
  let page: Page = { next: cursor, searchedTo: null, total };
  for (let i = 0; i < ROWS_REQUESTS_MAX && rows.length < (limit ?? 1); i++) {
    const from = page.next === null ? {} : { cursor: page.next };
    const asked = { ...query, ...(limit && { limit: String(limit - rows.length) }), ...from };
    const answer = (await api.get(list, asked)) as Page & Readonly<Record<string, readonly Row[]>>;
    rows.push(...(answer[list] ?? []));
    total ??= answer.total;
    page = answer;
    if (page.next === null) break;
  }
  return { rows, page, total };
}
