import type { OperatorFiles } from './base/operator-files.ts';
import { type BrandOf, createBrands } from './brand/brands.ts';
import type { Config } from './config/config.ts';
import { createMailWords } from './words/mail-words.ts';
import { createWords, type Words } from './words/words.ts';

/** What people see of the vault and read of it. */
export interface People {
  readonly brandOf: BrandOf;
  readonly words: Words;
  readonly wordsOf: ReturnType<typeof createMailWords>;
}

/** Reads the brands and words that the settings name. Throws `ConfigError` for what cannot be used. */
export function createPeople(config: Config, files: OperatorFiles | undefined): People {
  const words = createWords(config, files);
  return { brandOf: createBrands(config, files), words, wordsOf: createMailWords(words) };
}
