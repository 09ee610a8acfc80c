import { equalText } from '../../lib/base/bytes.ts';
import { VaultError } from '../../lib/base/error.ts';
import { noteIntruder } from '../../lib/limits/limit-events.ts';
import type { Row } from './route.ts';

/** The row, for the operator alone: 401 `operator_unauthorized` before anything of the request is looked at, 429 once a client has failed too often. */
export function forOperator(row: Row): Row {
  return {
    ...row,
    async answer(incoming, limits) {
      const { vault, request, client } = incoming;
      limits.operator.check(client);
      if (!isOperator(vault.config.operatorSecret, request)) {
        noteIntruder(vault, client);
        limits.operator.fail(client);
        throw new VaultError('operator_unauthorized');
      }
      return row.answer(incoming, limits);
    },
  };
}

/** The token of `Authorization: Bearer`, undefined without one. */
export function bearerOf(request: Request): string | undefined {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
}

/** Compared in time that depends on the secret's length only. Without a secret nobody is the operator. */
function isOperator(secret: string | undefined, request: Request): boolean {
  return equalText(secret ?? '', bearerOf(request) ?? '') && secret !== undefined;
}
