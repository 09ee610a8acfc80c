import * as v from 'valibot';
import { isoTime } from '../lib/base/clock.ts';
import { readAccountState } from '../lib/chain/account-state.ts';
import { JOIN_MS, type Join, leaveKey, openJoin, readJoin } from '../lib/joins/joins.ts';
import { compareKeys } from '../lib/registration/look-notes.ts';
import { AccountState, Join as JoinAnswer, JoinOpened, PredictedAccount } from './answers/accounts.ts';
import { accountKind, addressText, pubKeyHex, saltNumber } from './fields.ts';
import { optional, required } from './http/fields.ts';
import { json, type Reply } from './http/response.ts';
import { get, post, type Route } from './http/route.ts';

/** The name of a mailbox: a digest of a value that only the two devices know. */
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
export const accountRoutes = [
  get('/api/accounts/predict', {
    summary: 'Where the account of a key is, or would be',
    limit: 'proxy',
    fields: {
      pubKeyX: required(pubKeyHex),
      pubKeyY: required(pubKeyHex),
      salt: optional(saltNumber),
      kind: optional(accountKind),
    },
    answers: { 200: PredictedAccount },
    errors: ['rpc_error'],
    async handler({ ctx, input: { pubKeyX: x, pubKeyY: y, salt = 0n, kind } }) {
      return json({ address: await ctx.predict({ x, y, salt }, kind) });
    },
  }),

  get('/api/accounts/state', {
    summary: 'An account as the chain has it',
    limit: 'proxy',
    fields: { account: required(addressText('account')) },
    answers: { 200: AccountState },
    errors: ['rpc_error'],
    async handler({ ctx, input }) {
      const state = await readAccountState(ctx, input.account);
      // A person who removed a key asks for the state, and look-ups should know of it soon.
      const keys = state.keys?.flatMap(({ x, y }) => (BigInt(y) === 0n ? [] : [x + y.slice(2)]));
      if (keys) await compareKeys(ctx, input.account, keys);
      return json(state);
    },
  }),

  get('/api/accounts/joins', {
    summary: 'Look into the mailbox of a new key',
    limit: 'reads',
    fields: { id: required(joinId) },
    answers: { 200: JoinAnswer },
    errors: ['not_found'],
    example: { id: '$JOIN' },
    handler: async ({ ctx, input }) => joinReply(await readJoin(ctx, input.id)),
  }),

  post('/api/accounts/joins', {
    summary: 'Open a mailbox for a key that another device makes',
    limit: 'writes',
    fields: { id: required(joinId), smartAccount: required(addressText('smartAccount')) },
    answers: { 201: JoinOpened },
    errors: ['join_taken'],
    example: { id: '$JOIN' },
    async handler({ ctx, input: { id, smartAccount }, client }) {
      const closesAt = await openJoin(ctx, { id, account: smartAccount, ip: client });
      return json({ id, expiresAt: isoTime(closesAt) }, { status: 201 });
    },
  }),

  post('/api/accounts/joins/keys', {
    summary: 'Leave a public key in a mailbox',
    limit: 'writes',
    fields: joinKey,
    answers: { 200: JoinAnswer },
    errors: ['not_found', 'join_taken'],
    example: { id: '$JOIN' },
    async handler({ ctx, input: { id, pubKeyX: x, pubKeyY: y, label } }) {
      return joinReply(await leaveKey(ctx, id, { x: toWord(x), y: toWord(y), label }));
    },
  }),
] as const satisfies readonly Route[];

/** A number as 0x-hex of 32 bytes. */
function toWord(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`;
}
