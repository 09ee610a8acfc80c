import * as v from 'valibot';
import { isoTime } from '../lib/base/clock.ts';
import { readAccountState } from '../lib/chain/account-state.ts';
import { JOIN_MS, type Join, leaveKey, openJoin, readJoin } from '../lib/joins/joins.ts';
import { compareKeys } from '../lib/registration/look-at-keys.ts';
import { accountKind, addressText, pubKeyHex, saltNumber } from './fields.ts';
import { optional, required } from './http/fields.ts';
import { json, type Reply } from './http/response.ts';
import { get, post, type Route } from './http/route.ts';

/** The name of a mailbox: a digest of what only the two devices know. */
const joinId = v.pipe(v.string('Invalid id'), v.regex(/^[0-9a-f]{32}$/, 'Invalid id: expected 32 hex digits'));

const LABEL_MESSAGE = 'Invalid label: expected 0x-hex of 32 bytes';
const labelHex = v.pipe(v.string(LABEL_MESSAGE), v.regex(/^0x[0-9a-fA-F]{64}$/, LABEL_MESSAGE), v.toLowerCase());

const joinKey = {
  id: required(joinId),
  pubKeyX: required(pubKeyHex),
  pubKeyY: required(pubKeyHex),
  label: required(labelHex),
};

function joinReply({ account, openedAt, key }: Join): Reply {
  return json({ smartAccount: account, expiresAt: isoTime(openedAt + JOIN_MS), key });
}

/** Smart accounts as the chain has them: where one is or would be, and its state. */
export const accountRoutes: readonly Route[] = [
  get('/api/accounts/predict', {
    limit: 'proxy',
    fields: {
      pubKeyX: required(pubKeyHex),
      pubKeyY: required(pubKeyHex),
      salt: optional(saltNumber),
      kind: optional(accountKind),
    },
    async handler({ ctx, input: { pubKeyX: x, pubKeyY: y, salt = 0n, kind } }) {
      return json({ address: await ctx.predict({ x, y, salt }, kind) });
    },
  }),

  get('/api/accounts/state', {
    limit: 'proxy',
    fields: { account: required(addressText('account')) },
    async handler({ ctx, input }) {
      const state = await readAccountState(ctx, input.account);
      // Who removed a key asks for the state, and look-ups shall know of it soon.
      const keys = state.keys?.flatMap(({ x, y }) => (BigInt(y) === 0n ? [] : [x + y.slice(2)]));
      if (keys) await compareKeys(ctx, input.account, keys);
      return json(state);
    },
  }),

  get('/api/accounts/joins', {
    limit: 'reads',
    fields: { id: required(joinId) },
    handler: async ({ ctx, input }) => joinReply(await readJoin(ctx, input.id)),
  }),

  post('/api/accounts/joins', {
    limit: 'writes',
    fields: { id: required(joinId), smartAccount: required(addressText('smartAccount')) },
    async handler({ ctx, input: { id, smartAccount }, client }) {
      const closesAt = await openJoin(ctx, { id, account: smartAccount, ip: client });
      return json({ id, expiresAt: isoTime(closesAt) }, { status: 201 });
    },
  }),

  post('/api/accounts/joins/keys', {
    limit: 'writes',
    fields: joinKey,
    async handler({ ctx, input: { id, pubKeyX: x, pubKeyY: y, label } }) {
      return joinReply(await leaveKey(ctx, id, { x: toWord(x), y: toWord(y), label }));
    },
  }),
];

/** A number as 0x-hex of 32 bytes. */
function toWord(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}
