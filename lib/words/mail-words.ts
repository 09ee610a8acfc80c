import type { Catalogue } from '../../client/catalogue.ts';
import { directionOf } from './languages.ts';
import type { BuiltIn, Words } from './words.ts';

/** The words of mails and text messages, which need no served files. Each language is loaded when it is first used. */
export const readMailWords: BuiltIn = async (language) => (await LANGUAGES[language]?.()) ?? {};

/** Finds the words of mails, the operator's included, and how a language is written. */
export function createMailWords(words: Words) {
  return async (language: string) => ({
    words: await words.of('mail', language, readMailWords),
    english: await words.inEnglish('mail', language, readMailWords),
    direction: directionOf(language),
  });
}

const LANGUAGES: Readonly<Record<string, () => Promise<Catalogue>>> = {
  en: async () => (await import('./messages/en.json', { with: { type: 'json' } })).default,
  de: async () => (await import('./messages/de.json', { with: { type: 'json' } })).default,
  fr: async () => (await import('./messages/fr.json', { with: { type: 'json' } })).default,
  es: async () => (await import('./messages/es.json', { with: { type: 'json' } })).default,
};
