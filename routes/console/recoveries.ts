import * as v from 'valibot';
import { cancelRecoveries, listRecoveries } from '../../lib/recovery/list.ts';
import { Done } from '../answers/common.ts';
import { Recoveries } from '../answers/recoveries.ts';
import { addressText } from '../fields.ts';
import { optional, required } from '../http/fields.ts';
import { demandRole, requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

const isOpenText = v.pipe(
  v.picklist(['true', 'false'], 'Invalid open. Must be "true" or "false"'),
  v.transform((text) => text === 'true'),
);

/** Recoveries of accounts, listed and withdrawn by the operator. */
export const recoveryConsoleRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/recoveries', {
      summary: 'Recoveries of accounts, the newest first',
      answers: { 200: Recoveries },
      fields: { account: optional(addressText('account')), open: optional(isOpenText) },
      async handler({ ctx, operator, input: { account, open = false } }) {
        if (account !== undefined) demandRole(operator, 'operator');
        const query = { isOpen: open, ...(account === undefined ? {} : { account }) };
        return json({ recoveries: await listRecoveries(ctx, query) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/recoveries/cancel', {
      summary: 'Withdraw the recoveries of an account',
      answers: { 200: Done },
      errors: ['not_found'],
      fields: { account: required(addressText('account')) },
      async handler({ ctx, input }) {
        await cancelRecoveries(ctx, input.account);
        return json({ ok: true });
      },
    }),
  ),
] as const satisfies readonly Route[];
