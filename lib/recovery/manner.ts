import { type Row, textOf } from '../db/database.ts';
import { DEFAULT_APP } from '../events/catalogue.ts';
import type { Manner } from './address-store.ts';

/** How an address is written to, by its row: as it was named, else in these. */
export function mannerOf(row: Row | undefined, language: string, app: string = DEFAULT_APP): Manner {
  const named = (name: keyof Manner) => (row === undefined ? null : textOf(row, name));
  return { app: named('app') ?? app, language: named('language') ?? language };
}

/** The account page in the language and the brand of a mail. */
export function accountLink({ baseUrl }: { readonly baseUrl: string }, { app, language }: Manner): string {
  const query = new URLSearchParams({ lang: language, ...(app === DEFAULT_APP ? {} : { app }) });
  return `${baseUrl}/account?${query}`;
}
