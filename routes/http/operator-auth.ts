import { equalText } from '../../lib/base/bytes.ts';
import { VaultError } from '../../lib/base/error.ts';
import { recordIntruder } from '../../lib/limits/limit-events.ts';
import type { Route } from './route.ts';

/**
 * The route, for the operator alone: 401 `operator_unauthorized` before the request is read any further, 429
 * `rate_limited` once a client has failed too often. The right secret always passes, so that nobody else's failures
 * from the same address lock the operator out.
 */
export function requireOperator<R extends Route>(route: R): R {
  return {
    ...route,
    security: 'operator',
    async handle(incoming, limits) {
      const { ctx, request, client } = incoming;
      if (isOperator(ctx.config.operatorSecret, request)) return route.handle(incoming, limits);
      recordIntruder(ctx, client);
      limits.operator(client);
      throw new VaultError('operator_unauthorized');
    },
  };
}

/** The token of `Authorization: Bearer`, undefined without one. */
export function bearerToken(request: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
}

/** Compared in time that depends on the secret's length only. Without a secret nobody is the operator. */
function isOperator(secret: string | undefined, request: Request): boolean {
  return equalText(secret ?? '', bearerToken(request) ?? '') && secret !== undefined;
}
