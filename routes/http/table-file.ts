import type { ExportFormat } from '../../lib/events/exports.ts';
import type { Reply } from './response.ts';

/** A table that is written to a file while it is read. */
export interface TableFile {
  readonly name: string;
  readonly format: ExportFormat;
  /** The names of the columns; each row has all of them. */
  readonly columns: readonly string[];
  readonly steps: AsyncGenerator<readonly object[]>;
  /** The address of the file with the next rows; null if this one has all. */
  readonly next: string | null;
}

const MEDIA: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson',
};

/**
 * An answer that is a file. A step is read once the caller has taken the one before, and none after the caller has
 * gone.
 */
export function tableFile({ name, format, columns, steps, next }: TableFile): Reply {
  const encoder = new TextEncoder();
  const line = format === 'csv' ? csvLine : jsonLine;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (format === 'csv') controller.enqueue(encoder.encode(`${columns.join(',')}\r\n`));
      },
      async pull(controller) {
        // A step without rows is not the end: none of its rows met the filter.
        for (;;) {
          const { done, value } = await steps.next();
          if (done) return controller.close();
          if (value.length === 0) continue;
          return controller.enqueue(encoder.encode(value.map((row) => line(row, columns)).join('')));
        }
      },
      async cancel() {
        await steps.return(undefined);
      },
    },
    { highWaterMark: 1 },
  );
  const headers: Record<string, string> = {
    'content-type': MEDIA[format],
    'content-disposition': `attachment; filename="${name}.${format}"`,
  };
  if (next !== null) headers['link'] = `<${next}>; rel="next"`;
  return { status: 200, headers, body };
}

function jsonLine(row: object): string {
  return `${JSON.stringify(row)}\n`;
}

/** A line of RFC 4180. */
function csvLine(row: object, columns: readonly string[]): string {
  const cells = row as Readonly<Record<string, unknown>>;
  return `${columns.map((name) => csvCell(cells[name])).join(',')}\r\n`;
}

/** Spreadsheets run what begins like a formula: an apostrophe before it makes it a text. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value.replace(/^[=+\-@\t\r]/, "'$&") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
