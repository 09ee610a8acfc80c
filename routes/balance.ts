import * as v from 'valibot';
import { findToken, formatUnits, readTokenBalance, TOKEN_NAMES } from '../lib/chain/tokens.ts';
import { Balance } from './answers/accounts.ts';
import { addressText } from './fields.ts';
import { checkField, required } from './http/fields.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

const tokenName = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.picklist(TOKEN_NAMES, 'Unsupported token. Supported: ETH, USDC'),
);

/** The balance of an address in ether or USDC. */
export const balanceRoutes = [
  get('/api/balance', {
    summary: 'The balance of an address in ether or USDC',
    limit: 'proxy',
    // The account is judged last, so its field accepts any form.
    fields: { account: required(v.string()), token: required(tokenName), chainId: required(v.string()) },
    answers: { 200: Balance },
    errors: ['rpc_error'],
    async handler({ ctx, input }) {
      const token = findToken(ctx.config, input.token, input.chainId);
      const balance = await readTokenBalance(ctx.rpc, token, checkField(addressText('account'), input.account));
      const { decimals, symbol } = token;
      return json({ balance: String(balance), decimals, symbol, formatted: formatUnits(balance, decimals) });
    },
  }),
] as const satisfies readonly Route[];
