import type { Fetch } from '../base/http-client.ts';
import type { Clients } from '../clients/client.ts';
import { createKeyFacts, type KeyFacts } from '../signing/signing-keys.ts';
import { createDocumentFacts, type DocumentFacts } from './client-documents.ts';
import type { SaltFacts } from './subject.ts';

/** The provider's memory, shared over isolated requests. */
export interface OpenIdFacts {
  /** When a refused link was logged last, by reason and client; by the monotonic clock. */
  readonly refusedLinks: Map<string, number>;
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
  return { refusedLinks: new Map(), keyFacts: createKeyFacts(), saltFacts, documentFacts: createDocumentFacts() };
}
