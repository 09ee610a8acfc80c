import * as v from 'valibot';
import { findToken, formatUnits, readBalance, TOKEN_NAMES } from '../lib/chain/balance.ts';
import { readAccountState } from '../lib/chain/state.ts';
import { json } from './http/answer.ts';
import { addressText, checkField, optional, required, uint256, uint256Hex } from './http/fields.ts';
import { get, type Row } from './http/route.ts';

/** A coordinate of an account's P-256 key. */
export const pubKeyHex = uint256Hex('Invalid pubKeyX or pubKeyY: expected uint256 hex string');

/** The number that tells accounts of one key apart. */
export const saltNumber = uint256('Invalid salt: expected uint256 decimal or hex string');

const tokenName = v.pipe(
  v.string(),
  v.toLowerCase(),
  v.picklist(TOKEN_NAMES, 'Unsupported token. Supported: ETH, USDC'),
);

/** Smart accounts as the chain has them: where one is or would be, its state, and what an address holds. */
export const accountRoutes: readonly Row[] = [
  get('/api/accounts/predict', {
    limit: 'proxy',
    fields: {
      pubKeyX: required(pubKeyHex),
      pubKeyY: required(pubKeyHex),
      salt: optional(saltNumber),
    },
    async handler({ vault, input: { pubKeyX: x, pubKeyY: y, salt = 0n } }) {
      return json({ address: await vault.predict({ x, y, salt }) });
    },
  }),

  get('/api/accounts/state', {
    limit: 'proxy',
    fields: { account: required(addressText('account')) },
    async handler({ vault, input }) {
      return json(await readAccountState(vault, input.account));
    },
  }),

  get('/api/balance', {
    limit: 'proxy',
    // The account is judged last, so its form is no matter of its field.
    fields: { account: required(v.string()), token: required(tokenName), chainId: required(v.string()) },
    async handler({ vault, input }) {
      const token = findToken(vault.config, input.token, input.chainId);
      const balance = await readBalance(vault.rpc, token, checkField(addressText('account'), input.account));
      const { decimals, symbol } = token;
      return json({ balance: String(balance), decimals, symbol, formatted: formatUnits(balance, decimals) });
    },
  }),
];
