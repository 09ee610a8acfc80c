import type { Fetch } from '../base/http-client.ts';
import { type Cache, createCache } from '../base/lru-cache.ts';
import type { Clients } from '../clients/client.ts';
import { createKeyFacts, type KeyFacts } from '../signing/signing-keys.ts';
import { createDocumentFacts, type DocumentFacts } from './client-documents.ts';
import type { SaltFacts } from './subject.ts';

/** Clients of documents are as many as a host likes. */
const REFUSALS_MAX = 1_000;

/** The provider's memory, shared over isolated requests. */
export interface OpenIdFacts {
  /** When a refusal was logged last, by event, reason and client; by the monotonic clock. */
  readonly refusals: Cache<string, number>;
  readonly keyFacts: KeyFacts;
  readonly saltFacts: SaltFacts;
  readonly documentFacts: DocumentFacts;
}

/** The provider's parts of a vault. */
export interface OpenIdParts extends OpenIdFacts {
  /** The apps that people sign in to; undefined without `CLIENTS`. */
  readonly clients: Clients | undefined;
  /** Reads documents of clients, from public addresses alone where the host can tell. */
  readonly documentFetch: Fetch;
}

/** Nothing known yet. */
export function createOpenIdFacts(): OpenIdFacts {
  const saltFacts = { salt: undefined };
  const refusals = createCache<string, number>(REFUSALS_MAX);
  return { refusals, keyFacts: createKeyFacts(), saltFacts, documentFacts: createDocumentFacts() };
}
