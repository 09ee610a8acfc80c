import { readLedTo } from '../aliases/aliases.ts';
import { readDidEntry } from '../chain/registry-views.ts';
import type { ChainReader } from '../chain/rpc.ts';
import { agreed } from '../chain/witness.ts';
import type { Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import {
  recheckRegistrations,
  type SettledRegistration,
  sawRegistrations,
  selectSettled,
  toSettled,
} from './look-store.ts';

// For the batches of other subjects that find a registration changed.
export { recheckRegistrations } from './look-store.ts';

/** Registrations of one account in a look: of more, those that were looked at longest ago. */
export const LOOK_DIDS_MAX = 50;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'metrics' | 'log'>;

/** The registrations of an account that are final and no longer watched. */
export async function readSettled({ db }: Pick<Ctx, 'db'>, account: string): Promise<readonly SettledRegistration[]> {
  return (await db.read(selectSettled(account, LOOK_DIDS_MAX))).map(toSettled);
}

/** The result of a look at registrations. */
interface DidsLook {
  readonly isChanged: boolean;
  readonly statements: readonly Statement[];
}

/**
 * Asks the chain, at `block` if that is given, for the DIDs of an account's registrations and the aliases of its
 * handles; the turn began at `askedAt`. Where both are as stored they were looked at. Where one is not, the
 * registration is watched again, and both nodes and final blocks decide. Where the chain does not answer, the row stays
 * as it is. Throws 502 `rpc_error`.
 */
export async function lookAtDids(
  ctx: Ctx,
  account: string,
  settled: readonly SettledRegistration[],
  { block, askedAt }: { readonly block: number | undefined; readonly askedAt: number },
): Promise<DidsLook> {
  if (settled.length === 0) return { isChanged: false, statements: [] };
  const at = block === undefined ? {} : { block };
  const verdicts = await agreed(ctx, 'registration', (chain) => judgeEach({ ...chain, ...at }, account, settled));
  const judged = (verdict: Verdict) => settled.filter((_, i) => verdicts[i] === verdict);
  const [same, changed] = [judged('same'), judged('changed')];
  const ids = changed.map(({ id }) => id);
  return {
    isChanged: changed.length > 0,
    statements: [
      ...(same.length > 0 ? [sawRegistrations(account, same, askedAt)] : []),
      ...(changed.length > 0 ? [recheckRegistrations(ids, ctx.clock.now())] : []),
    ],
  };
}

type Verdict = 'same' | 'changed' | 'untold';
type Chain = ChainReader<'didRegistryAddress'> & { readonly block?: number };

/** Each DID and each alias is asked for once. */
async function judgeEach(
  chain: Chain,
  account: string,
  settled: readonly SettledRegistration[],
): Promise<readonly Verdict[]> {
  const registry = chain.config.didRegistryAddress;
  if (registry === null) return settled.map(() => 'untold');
  const at = { ...chain, registry };
  const readEntry = shared((didHash) => readDidEntry(at, didHash));
  const readLead = shared((pair) => {
    const [aliasHash = '', didHash = ''] = pair.split(' ');
    return readLedTo(at, { aliasHash, didHash });
  });
  return Promise.all(
    settled.map(async ({ didHash, aliasHash, isActive, isAliased }) => {
      const [entry, lead] = await Promise.all([
        readEntry(didHash),
        aliasHash === null ? undefined : readLead(`${aliasHash} ${didHash}`),
      ]);
      if (!entry || lead?.isTold === false) return 'untold';
      if (entry.controller !== account || entry.active !== isActive) return 'changed';
      const isElsewhere = lead !== undefined && lead.ledTo !== '' && lead.ledTo !== didHash;
      return isElsewhere || (lead !== undefined && (lead.ledTo === didHash) !== isAliased) ? 'changed' : 'same';
    }),
  );
}

/** The function, called once for each argument. */
function shared<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const asked = new Map<string, Promise<T>>();
  return (key) => {
    const found = asked.get(key) ?? read(key);
    asked.set(key, found);
    return found;
  };
}
