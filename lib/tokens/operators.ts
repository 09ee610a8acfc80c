// Operators with names: each has a UCAN for the console, which is good while its row exists.
import { DAY_MS, isoTime } from '../base/clock.ts';
import { badRequest, VaultError } from '../base/error.ts';
import type { Condition, Statement } from '../db/database.ts';
import { COMMAND_OPERATOR, ROOT_OPERATOR } from '../events/acting.ts';
import { DEFAULT_APP, eventOf, type NewEvent } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { mintInvocation, UCAN_NONCE_BYTES } from '../ucan/mint.ts';
import { verifyInvocation } from '../ucan/verify.ts';
import { consoleIdentity } from './console-token.ts';
import {
  deleteOperators,
  type Ended,
  insertOperator,
  type Operator,
  type OperatorRole,
  revokeEnded,
  selectOperator,
  selectOperators,
  toOperator,
} from './operator-store.ts';

export { OPERATOR_ROLES, type OperatorRole } from './operator-store.ts';

/** The UCAN command of an operator's token. The token needs a row: no delegation makes another one good. */
const OPERATE_COMMAND = '/vault/operate';

/** How long an operator's token is good, unless they say otherwise, and the longest. */
export const OPERATOR_DAYS = 90;
export const OPERATOR_DAYS_MAX = 3650;

/** The form of a name. */
export const OPERATOR_NAME = /^[a-z0-9][a-z0-9._-]{0,31}$/;

/** Names that are not a person's. */
const RESERVED: readonly string[] = [ROOT_OPERATOR, COMMAND_OPERATOR];

/** An operator as lists show one; times are ISO 8601. */
export interface OperatorView {
  readonly name: string;
  readonly role: OperatorRole;
  readonly status: 'live' | 'expired';
  readonly created_at: string;
  readonly expires_at: string;
}

/** The operator to add, and the days of its token. */
export interface NewOperator {
  readonly name: string;
  readonly role: OperatorRole;
  readonly days?: number | undefined;
}

type Ctx = Pick<Platform, 'clock' | 'db'>;

/**
 * Adds an operator. The token is in this answer alone: the vault keeps its CID. Throws 400 for a name of another form
 * or one that is not a person's, 409 `operator_exists` while one of that name is there.
 */
export async function addOperator(
  { clock, db, keys, random }: Ctx & Pick<Platform, 'keys' | 'random'>,
  { name, role, days = OPERATOR_DAYS }: NewOperator,
): Promise<{ readonly token: string; readonly operator: OperatorView }> {
  if (!OPERATOR_NAME.test(name)) throw badRequest('Invalid name', NAME_HINT);
  if (RESERVED.includes(name)) throw badRequest('Invalid name', `${RESERVED.join(' and ')} are taken.`);
  const now = clock.now();
  const { signer: key } = await consoleIdentity(keys);
  const minted = await mintInvocation({
    key,
    subject: key.did,
    command: OPERATE_COMMAND,
    args: { name },
    expiresAt: now + days * DAY_MS,
    nonce: random(UCAN_NONCE_BYTES),
  });
  const operator: Operator = { name, role, id: minted.cid, createdAt: now, expiresAt: minted.expiresAt ?? now };
  const told = { name, role, expires_at: isoTime(operator.expiresAt) };
  const [added] = await db.write(
    insertOperator(operator),
    emitEvent(eventOf('operator.added', { app: DEFAULT_APP, at: now }, told), { ifChanged: true }),
  );
  if (added?.rowsAffected !== 1) throw new VaultError('operator_exists');
  return { token: minted.token, operator: viewOf(operator, now) };
}

const NAME_HINT = 'A name is 1 to 32 of a-z, 0-9, dot, underscore and hyphen, and begins with a letter or a digit.';

/** All operators, by name; those whose token has ended too. */
export async function listOperators({ clock, db }: Ctx): Promise<readonly OperatorView[]> {
  return (await db.read(selectOperators())).map((row) => viewOf(toOperator(row), clock.now()));
}

/** Ends an operator's token from the next request on, and its streams. Throws 404 `not_found`. */
export async function revokeOperator({ clock, db }: Ctx, name: string): Promise<void> {
  const event = eventOf('operator.revoked', { app: DEFAULT_APP, at: clock.now() }, { name });
  const [, revoked] = await db.write(...endTokens({ name }, event));
  if (revoked?.rowsAffected !== 1) throw new VaultError('not_found');
}

/** Ends the tokens of all operators; how many that were. */
export async function revokeOperators({ clock, db }: Ctx): Promise<number> {
  const event = eventOf('operator.all_revoked', { app: DEFAULT_APP, at: clock.now() }, { reason: 'revoked' });
  const [, revoked] = await db.write(...endTokens({ when: { sql: 'true', args: {} } }, event));
  return revoked?.rowsAffected ?? 0;
}

/** Ends the tokens of all operators where a condition holds, because a key of the vault was replaced. */
export function endOperators(when: Condition, at: number): readonly Statement[] {
  return endTokens({ when }, eventOf('operator.all_revoked', { app: DEFAULT_APP, at }, { reason: 'key' }));
}

/** The second statement is the verdict. */
function endTokens(ended: Ended, event: NewEvent): readonly Statement[] {
  return [revokeEnded(ended, event.at), deleteOperators(ended), emitEvent(event, { ifChanged: true })];
}

/** The operator whose token has a CID, for a caller that would revoke it as a token of the stream. */
export async function findOperatorOf({ db }: Pick<Ctx, 'db'>, cid: string): Promise<string | undefined> {
  const [row] = await db.read(selectOperator(cid));
  return row && toOperator(row).name;
}

/** The operator behind a token; or, where the vault has signed it, the reason why it does not serve. */
export type OperatorVerdict =
  | { readonly name: string; readonly role: OperatorRole; readonly expiresAt: number; readonly cid: string }
  | { readonly fault: 'invalid' | 'expired' | 'revoked' };

/** Finds the operator behind a token, by its signature and its row. Rejects if the database cannot be read. */
export async function readOperator(
  { clock, db, keys }: Ctx & Pick<Platform, 'keys'>,
  token: string,
): Promise<OperatorVerdict> {
  const now = clock.now();
  const { did, verify } = await consoleIdentity(keys);
  const verdict = await verifyInvocation(token, { service: did, now, verify });
  if (!verdict.ok) return { fault: verdict.why === 'expired' ? 'expired' : 'invalid' };
  const { subject, issuer, command, cid, expiresAt } = verdict;
  if (subject !== did || issuer !== did || command !== OPERATE_COMMAND) return { fault: 'invalid' };
  if ((expiresAt ?? 0) <= now) return { fault: 'expired' };
  const [row] = await db.read(selectOperator(cid));
  if (!row) return { fault: 'revoked' };
  const { name, role, expiresAt: end } = toOperator(row);
  return end <= now ? { fault: 'expired' } : { name, role, expiresAt: end, cid };
}

function viewOf({ name, role, createdAt, expiresAt }: Operator, now: number): OperatorView {
  const status = expiresAt <= now ? 'expired' : 'live';
  return { name, role, status, created_at: isoTime(createdAt), expires_at: isoTime(expiresAt) };
}
