import * as v from 'valibot';
import { EVENT_CHANNELS } from '../../lib/events/catalogue.ts';
import { issueToken, revoke } from '../../lib/tokens/tokens.ts';
import { json } from '../http/answer.ts';
import { appName, optional, required, word } from '../http/fields.ts';
import { forOperator } from '../http/operator-auth.ts';
import { post, type Row } from '../http/route.ts';

const eventChannel = v.picklist(EVENT_CHANNELS, `Invalid channel. Must be one of ${EVENT_CHANNELS.join(', ')}`);

const rows: readonly Row[] = [
  post('/v1/console/token', {
    fields: { app: required(appName), channel: optional(eventChannel) },
    async handler({ vault, input }) {
      return json(await issueToken(vault, input));
    },
  }),

  post('/v1/console/revoke', {
    fields: { cid: required(word('cid')) },
    async handler({ vault, input }) {
      const { cid, isNew } = await revoke(vault, input.cid);
      return json({ ok: true, cid, revoked: isNew });
    },
  }),
];

/** Tokens of the event stream, issued and revoked by the operator (completions section 11). */
export const tokenRoutes: readonly Row[] = rows.map(forOperator);
