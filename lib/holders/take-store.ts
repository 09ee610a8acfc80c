import type { Statement } from '../db/database.ts';
import { type Challenger, endReleased, type LettingGo, letClaims, MAY_TAKE, WAITS } from './challenge-store.ts';
import { settleHolders } from './store.ts';

// Addresses that go to another DID without a wait.

/** Lets the claims that wait have their address, where no address moves slowly. */
export function takeAtOnce({ identifier, did }: Challenger, now: number): readonly Statement[] {
  const of = { sql: `identifier = :taken AND status <> 'failed'`, args: { taken: identifier } };
  return [
    {
      sql: `UPDATE registrations SET waits = ${MAY_TAKE} WHERE identifier = :identifier AND did = :did AND waits = ${WAITS}`,
      args: { identifier, did },
    },
    ...settleHolders(of, now),
  ];
}

/** Lets a DID have an address that its holder lets go of, when its claim is final; the first is the verdict. */
export function letGo(to: LettingGo, now: number): readonly Statement[] {
  const of = { sql: `identifier = :released AND status <> 'failed'`, args: { released: to.identifier } };
  return [letClaims(to), ...endReleased(to, now), ...settleHolders(of, now)];
}
