import { equalText } from '../../lib/base/bytes.ts';
import { VaultError } from '../../lib/base/error.ts';
import type { Context } from '../../lib/context.ts';
import { actingStore, ROOT_OPERATOR } from '../../lib/events/acting.ts';
import { recordIntruder, recordSecretUse } from '../../lib/limits/limit-events.ts';
import { readOperator } from '../../lib/tokens/operators.ts';
import type { ActingOperator, Route, RouteRole } from './route.ts';

const ROLES: readonly RouteRole[] = ['viewer', 'operator', 'root'];

/**
 * The route, for operators of a role alone: 401 `operator_unauthorized` before the request is read any further, 429
 * `rate_limited` once a client has failed too often, 403 `operator_role`. The right secret and good tokens always pass,
 * so that nobody else's failures from the same address lock an operator out. Events of the route hold the name.
 */
export function requireOperator<R extends Route>(role: RouteRole, route: R): R {
  return {
    ...route,
    security: 'operator',
    role,
    async handle(incoming, limits) {
      const { ctx, request, client } = incoming;
      const found = await findOperator(ctx, request);
      if ('fault' in found) {
        recordIntruder(ctx, client);
        limits.operator(client);
        const { fault } = found;
        throw new VaultError('operator_unauthorized', fault === 'invalid' ? {} : { reason: fault, hint: HINTS[fault] });
      }
      const own = { ...ctx, db: actingStore(ctx.db, found.name) };
      if (found.role === 'root') recordSecretUse(own, client);
      try {
        demandRole(found, role);
        return await route.handle({ ...incoming, ctx: own, operator: found }, limits);
      } catch (error) {
        if (error instanceof VaultError && error.code === 'operator_role') recordIntruder(own, client, found.name);
        throw error;
      }
    },
  };
}

/** Throws 403 `operator_role` unless the operator has the role, or one that may more. */
export function demandRole(operator: Pick<ActingOperator, 'role'> | undefined, role: RouteRole): void {
  if (operator === undefined || ROLES.indexOf(operator.role) < ROLES.indexOf(role))
    throw new VaultError('operator_role');
}

/** The token of `Authorization: Bearer`, undefined without one. */
export function bearerToken(request: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
}

/** The operator of the header: the secret is root, without a database too. A query names nobody: URLs are in logs. */
async function findOperator(
  ctx: Context,
  request: Request,
): Promise<ActingOperator | { readonly fault: keyof typeof HINTS | 'invalid' }> {
  const given = bearerToken(request);
  if (given === undefined) return { fault: 'invalid' };
  if (isSecret(ctx.config.operatorSecret, given))
    return { name: ROOT_OPERATOR, role: 'root', expiresAt: null, cid: null };
  return readOperator(ctx, given);
}

const HINTS = {
  expired: 'The token of this operator has ended: vault operators add makes another one.',
  revoked: 'The token of this operator was revoked, or the vault was restored or its keys replaced.',
} as const;

/** Compared in time that depends on the secret's length only. Without a secret nobody is root. */
function isSecret(secret: string | undefined, given: string): boolean {
  return equalText(secret ?? '', given) && secret !== undefined;
}
