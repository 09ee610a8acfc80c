import type { OperatorFiles } from './base/operator-files.ts';
import { type BrandOf, createBrands } from './brand/brands.ts';
import type { Clients } from './clients/client.ts';
import { readClients } from './clients/clients-file.ts';
import type { Config } from './config/config.ts';
import { createMailWords } from './words/mail-words.ts';
import { createWords, type Words } from './words/words.ts';

/** The parts of the vault that people see and read. */
export interface People {
  /** The apps that people sign in to; undefined without `CLIENTS`. */
  readonly clients: Clients | undefined;
  readonly brandOf: BrandOf;
  readonly words: Words;
  readonly wordsOf: ReturnType<typeof createMailWords>;
}

/** Reads the apps, brands and words that the settings name. Throws `ConfigError` for a file that cannot be used. */
export function createPeople(config: Config, files: OperatorFiles | undefined): People {
  const words = createWords(config, files);
  const clients = readClients(config, files);
  return { clients, brandOf: createBrands(config, files, clients), words, wordsOf: createMailWords(words) };
}
