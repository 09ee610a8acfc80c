import type { Clients } from '../clients/client.ts';
import { createKeyFacts, type KeyFacts } from './signing-keys.ts';
import type { SaltFacts } from './subject.ts';

/** The provider's memory, shared over isolated requests. */
export interface OpenIdFacts {
  /** When a refused link was logged last, by reason and client; by the monotonic clock. */
  readonly refusedLinks: Map<string, number>;
  readonly keyFacts: KeyFacts;
  readonly saltFacts: SaltFacts;
}

/** The provider's parts of a vault. */
export interface OpenIdParts extends OpenIdFacts {
  /** The apps that people sign in to; undefined without `CLIENTS`. */
  readonly clients: Clients | undefined;
}

/** Nothing known yet. */
export function createOpenIdFacts(): OpenIdFacts {
  return { refusedLinks: new Map(), keyFacts: createKeyFacts(), saltFacts: { salt: undefined } };
}
