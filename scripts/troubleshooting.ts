// docs/troubleshooting.md: each error word with its cause and what to do.
import { ERRORS, type ErrorCode } from '../lib/base/error.ts';
import type { Route } from '../routes/http/route.ts';
import { ROUTES } from '../routes/index.ts';
import { EVERYWHERE, errorsOf } from './openapi/errors.ts';

/** The place of the words in the document. */
const BEGIN = '<!-- Written by `bun scripts/docs.ts` from lib/base/error.ts: change it there. -->';
const END = '<!-- The end of what is written. -->';

/** More operations than these are not named. */
const OPERATIONS_MAX = 4;

/** docs/troubleshooting.md with an entry of each word, in alphabetical order. Throws where their place is gone. */
export function withTroubles(document: string): string {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined)
    throw new Error('docs/troubleshooting.md has no place for the words');
  const words = (Object.keys(ERRORS) as ErrorCode[]).sort();
  return `${before}${BEGIN}\n\n${words.map(entryOf).join('\n')}\n${END}${after}`;
}

function entryOf(word: ErrorCode): string {
  const { status, cause, remedy } = ERRORS[word];
  const where = operationsOf(word);
  return [`### ${word}`, '', ...wrapped(`**${status}**${where}. ${cause}`), '', ...wrapped(remedy), ''].join('\n');
}

/** Where a word comes from, if that is a few operations. */
function operationsOf(word: ErrorCode): string {
  const all: readonly Route[] = ROUTES;
  const found = EVERYWHERE.includes(word) ? [] : all.filter((route) => errorsOf(route).includes(word));
  if (found.length === 0 || found.length > OPERATIONS_MAX) return '';
  return `, of ${found.map(({ method, path }) => `\`${method} ${path}\``).join(', ')}`;
}

/** Lines of at most 120 columns; code and links stay whole. */
function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.match(/(?:`[^`]*`|\[[^\]]*\]\([^)]*\)|\S)+/g) ?? []) {
    const line = lines[lines.length - 1] ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= 120) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
