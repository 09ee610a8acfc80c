import type { Statement } from '../db/database.ts';
import { maskCredential } from '../events/catalogue.ts';
import { type EventRows, emitEvents } from '../events/emit.ts';

/** The signature counter of a sign-in; 0 where the authenticator has none. */
export interface SignCount {
  /** The digest of the sign-in's evidence. */
  readonly proof: string;
  readonly app: string;
  readonly did: string;
  readonly account: string;
  readonly credentialId: string;
  /** The key that signed, 0x and x‖y in hex. */
  readonly key: string;
  readonly count: number;
}

/**
 * Stores the counter of a known key, with an event if it is not above the last one (Web Authentication Level 3 section
 * 7.2, step 22). It comes before the statement that stores the code: the event is for new evidence alone, since one
 * signature may be sent twice.
 */
export function countSignature(one: SignCount, now: number): readonly Statement[] {
  const { proof, app, did, account, credentialId, key, count } = one;
  return [
    emitEvents(WENT_BACK, { proof, app, did, account, key, count, now, credential: maskCredential(credentialId) }),
    {
      sql: `UPDATE known_keys SET count = :count WHERE account = :account AND key = :key`,
      args: { account, key, count },
    },
  ];
}

const WENT_BACK: readonly EventRows[] = [
  {
    type: 'signin.counter_back',
    app: ':app',
    data: { did: ':did', credential: ':credential', counter: ':count', previous: 'count' },
    from: `FROM known_keys WHERE account = :account AND key = :key AND count > 0 AND count >= :count
      AND NOT EXISTS (SELECT 1 FROM authorization_codes WHERE proof = :proof)`,
  },
];
