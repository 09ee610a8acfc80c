import { createMailWords } from '../../lib/words/mail-words.ts';
import { createWords } from '../../lib/words/words.ts';

/** A logo as SVG. */
export const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z"/></svg>';

/** A logo of one pixel as PNG. */
export const PNG = new Uint8Array(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
);

/** The brand of a vault at vault.example.com without settings. */
export const BRAND = { name: 'vault.example.com', support: undefined, color: undefined, isOwn: false };

/** The words of mails, as a vault without settings has them. */
export const wordsOf = createMailWords(createWords({ defaultLanguage: 'en', wordsDir: undefined }, undefined));
