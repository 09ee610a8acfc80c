import type { Config } from '../config/config.ts';
import { type Finding, ok, skip, warn } from './finding.ts';
import type { StoredFacts } from './stored.ts';

/** Looks that take longer than this, in minutes, are behind. */
const LOOKS_BEHIND_MINUTES = 60;

/** Checks that accounts of proven registrations are looked at on-chain again in time. */
export function checkLooks(
  { looksPerMinute, follower }: Pick<Config, 'looksPerMinute' | 'follower'>,
  stored: StoredFacts | undefined,
): readonly Finding[] {
  const looks = stored?.looks;
  if (looks === undefined) return [skip('looks', 'the database does not say how many looks are due')];
  // Beside a follower only changed accounts are looked at.
  const due = looks.changed + (follower ? 0 : looks.routine);
  const minutes = Math.ceil(due / looksPerMinute);
  const text = `${due} of the accounts with registrations are due to be looked at again on-chain`;
  if (minutes <= LOOKS_BEHIND_MINUTES) return [ok('looks', text)];
  const late = `${text}, which takes ${minutes} minutes: until then look-ups show an earlier state`;
  return [warn('looks', late, 'raise LOOKS_PER_MINUTE, or set FOLLOWER=true with an RPC_URL of your own')];
}
