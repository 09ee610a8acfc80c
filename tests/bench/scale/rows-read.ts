import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import type { Statement } from './statements.ts';

/**
 * How many rows each statement reads on a file: a libSQL server counts them, the embedded engine does not. Nothing of it
 * is kept. The server writes a copy of the file beside it. Undefined where there is no server for this machine.
 */
export async function rowsReadOn(
  path: string,
  statements: readonly Statement[],
): Promise<ReadonlyMap<string, number> | undefined> {
  const dir = `${path}.served`;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(join(dir, 'dbs/default'), { recursive: true });
  linkSync(path, join(dir, 'dbs/default/data'));
  const server = await startLibsql({ dir });
  try {
    if (!server) return undefined;
    const found = new Map<string, number>();
    for (const { sql, args } of statements) found.set(sql, await rowsRead(server.url, sql, args));
    return found;
  } finally {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function rowsRead(url: string, sql: string, args: Statement['args']): Promise<number> {
  const named_args = Object.entries(args).map(([name, value]) => ({ name, value: toHrana(value) }));
  const stmts = [{ sql: 'BEGIN' }, { sql, named_args }, { sql: 'ROLLBACK' }];
  const requests = [...stmts.map((stmt) => ({ type: 'execute', stmt })), { type: 'close' }];
  const response = await fetch(`${url}/v2/pipeline`, { method: 'POST', body: JSON.stringify({ requests }) });
  const { results } = (await response.json()) as Answer;
  return results[1]?.response?.result?.rows_read ?? Number.NaN;
}

interface Answer {
  readonly results: readonly { readonly response?: { readonly result?: { readonly rows_read: number } } }[];
}

function toHrana(value: unknown) {
  if (value === null) return { type: 'null' };
  return typeof value === 'string' ? { type: 'text', value } : { type: 'integer', value: String(value) };
}
