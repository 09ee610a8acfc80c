import { type Row, textOf } from '../db/database.ts';
import { DEFAULT_APP } from '../events/catalogue.ts';
import type { MailPreferences } from './address-store.ts';

/** Language and app for mails to an address, from its row; falls back to the given ones. */
export function mailPreferences(row: Row | undefined, language: string, app: string = DEFAULT_APP): MailPreferences {
  const named = (name: keyof MailPreferences) => (row === undefined ? null : textOf(row, name));
  return { app: named('app') ?? app, language: named('language') ?? language };
}

/** The account page in the language and the brand of a mail. */
export function accountLink({ baseUrl }: { readonly baseUrl: string }, { app, language }: MailPreferences): string {
  const query = new URLSearchParams({ lang: language, ...(app === DEFAULT_APP ? {} : { app }) });
  return `${baseUrl}/account?${query}`;
}
