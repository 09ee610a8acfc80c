import { type Catalogue, type Message, placesOf } from '../../client/catalogue.ts';

/** What a catalogue lacks or has too much beside the English one, as sentences; none where it is complete. */
export function faultsOf(catalogue: Catalogue, english: Catalogue, language: string): string[] {
  const ids = Object.keys(english);
  return [
    ...ids.filter((id) => catalogue[id] === undefined).map((id) => `has no ${id}`),
    ...Object.keys(catalogue)
      .filter((id) => english[id] === undefined)
      .map((id) => `has ${id}, which English has not`),
    ...ids.flatMap((id) => messageFaults(id, catalogue[id], english[id] ?? id, language)),
  ];
}

function messageFaults(id: string, message: Message | undefined, english: Message, language: string): string[] {
  if (message === undefined) return [];
  const faults: string[] = [];
  const forms = typeof message === 'string' ? [message] : Object.values(message);
  if (forms.some((form) => form.trim() === '' || form.trim() !== form)) faults.push(`has blanks in ${id}`);
  if (String(placesOf(message)) !== String(placesOf(english))) faults.push(`has other places in ${id}`);
  if (typeof message === 'string') return faults;
  const wanted = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  if (String(Object.keys(message).sort()) !== String([...wanted].sort()))
    faults.push(`has other plural forms in ${id}`);
  return faults;
}
