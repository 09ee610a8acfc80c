import { once } from './base/once.ts';
import type { OperatorFiles } from './base/operator-files.ts';
import { type BrandOf, createBrands } from './brand/brands.ts';
import type { Config } from './config/config.ts';
import { createMailWords } from './words/mail-words.ts';
import { createWords, type Words } from './words/words.ts';

/** What people see of the vault and read of it. */
export interface People {
  readonly brandOf: BrandOf;
  readonly words: () => Words;
  readonly wordsOf: ReturnType<typeof createMailWords>;
}

/**
 * Brands and words, made when they are first used. Settings that name files or another language are judged at once:
 * throws `ConfigError` for what cannot be used.
 */
export function createPeople(config: Config, files: OperatorFiles | undefined): People {
  const { brandLogo, brands, wordsDir, defaultLanguage } = config;
  const brandOf = once(() => createBrands(config, files));
  const words = once(() => createWords(config, files));
  const mailWords = once(() => createMailWords(words()));
  if (brandLogo !== undefined || brands !== undefined) brandOf();
  if (wordsDir !== undefined || defaultLanguage !== 'en') words();
  return { brandOf: (app) => brandOf()(app), words, wordsOf: (language) => mailWords()(language) };
}
