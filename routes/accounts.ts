import { readAccountState } from '../lib/chain/account.ts';
import { addressText, pubKeyHex, saltNumber } from './fields.ts';
import { optional, required } from './http/fields.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

/** Smart accounts as the chain has them: where one is or would be, and its state. */
export const accountRoutes: readonly Route[] = [
  get('/api/accounts/predict', {
    limit: 'proxy',
    fields: {
      pubKeyX: required(pubKeyHex),
      pubKeyY: required(pubKeyHex),
      salt: optional(saltNumber),
    },
    async handler({ ctx, input: { pubKeyX: x, pubKeyY: y, salt = 0n } }) {
      return json({ address: await ctx.predict({ x, y, salt }) });
    },
  }),

  get('/api/accounts/state', {
    limit: 'proxy',
    fields: { account: required(addressText('account')) },
    async handler({ ctx, input }) {
      return json(await readAccountState(ctx, input.account));
    },
  }),
];
