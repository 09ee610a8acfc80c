import type { Api } from '../api.ts';
import { make } from '../dom.ts';

/** The form of an exported file. */
export type FileForm = 'csv' | 'jsonl';

/**
 * Saves a list as one file, in any number of requests: the vault answers up to 100,000 rows at once. Calls `onPart`
 * before each further one.
 */
export async function saveList(
  api: Api,
  list: string,
  { query, form, onPart }: { query: Readonly<Record<string, string>>; form: FileForm; onPart: (part: number) => void },
): Promise<string> {
  const parts: Blob[] = [];
  let next: URLSearchParams | null = new URLSearchParams({ ...query, format: form });
  while (next !== null) {
    if (parts.length > 0) onPart(parts.length + 1);
    const answer = await api.file(`${list}/export`, next);
    parts.push(parts.length > 0 && form === 'csv' ? await withoutHead(answer.file) : answer.file);
    next = answer.next;
  }
  const name = `${list}-${new Date().toISOString().slice(0, 10)}.${form}`;
  save(new Blob(parts), name);
  return name;
}

/** A table's first line names its columns: a file has it once. */
async function withoutHead(file: Blob): Promise<Blob> {
  const head = await file.slice(0, HEAD_BYTES_MAX).text();
  return file.slice(head.indexOf('\n') + 1);
}

const HEAD_BYTES_MAX = 1_024;
const KEPT_MS = 60_000;

/** Saves a text as a file of JSON. */
export function saveText(text: string, name: string): void {
  save(new Blob([text], { type: 'application/json' }), name);
}

function save(file: Blob, name: string): void {
  const href = URL.createObjectURL(file);
  const link = make('a', { href, download: name, hidden: '' });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}
