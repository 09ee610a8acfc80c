import * as v from 'valibot';
import { DatabaseUnavailable, VaultError } from '../../lib/base/error.ts';
import { describeError } from '../../lib/base/log.ts';
import type { Context } from '../../lib/context.ts';
import { EVENT_CHANNELS, type EventChannel } from '../../lib/events/catalogue.ts';
import { endedStream, type Subscription } from '../../lib/streams/hub.ts';
import { checkConsoleToken } from '../../lib/tokens/console-token.ts';
import { isRevoked } from '../../lib/tokens/tokens.ts';
import { appOrAll } from '../fields.ts';
import { optional } from '../http/fields.ts';
import { bearerToken } from '../http/operator-auth.ts';
import type { Reply } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

const channelList = v.pipe(
  v.string('Invalid channel'),
  v.transform((list) => [...new Set(list.split(','))]),
  v.array(v.picklist(EVENT_CHANNELS, `Invalid channel. Must be of ${EVENT_CHANNELS.join(', ')}`)),
);

/**
 * The live stream of events (completions section 11). While the database is away it is a stream that ends at once:
 * after an error status a browser would not reconnect.
 */
export const eventRoutes = [
  get('/v1/console/events', {
    summary: 'The live stream of events',
    security: 'token',
    answers: { 200: { media: 'text/event-stream', about: 'One event a message, its `id` and JSON as `data`' } },
    errors: ['token_missing', 'token_invalid', 'token_expired', 'token_revoked', 'token_scope'],
    fields: {
      app: optional(appOrAll),
      channel: optional(channelList),
      token: optional(v.string()),
      ucan: optional(v.string()),
      access_token: optional(v.string()),
      last_event_id: optional(v.string()),
    },
    async handler({ ctx, app: named, request, input }) {
      // `X-Vault-App` names the app where the query does not.
      const { app = named, channel: channels = EVENT_CHANNELS } = input;
      const token = input.token ?? input.ucan ?? input.access_token ?? bearerToken(request);
      const rights = await readRights(ctx, token, { app, channels });
      // HEAD must not take the stream from its reader.
      if (!rights || request.method === 'HEAD') return streamReply(endedStream());
      const { cid, cids, expiresAt } = rights;
      // The header comes from the browser's own reconnect, which repeats a query that is older.
      const after = readLastId(request.headers.get('last-event-id') || input.last_event_id);
      return streamReply(await ctx.hub.open({ app, channels, cid, cids, expiresAt, after }));
    },
  }),
] as const satisfies readonly Route[];

/** The rights of a token; undefined when the database cannot tell. Throws 401 and 403. */
async function readRights(
  ctx: Context,
  token: string | undefined,
  asked: { readonly app: string; readonly channels: readonly EventChannel[] },
) {
  const verdict = await checkConsoleToken(ctx, token, { ...asked, now: ctx.clock.now() });
  if (!verdict.ok) throw new VaultError(verdict.error);
  const revoked = await isRevoked(ctx, verdict.cids).catch((error) => {
    if (!(error instanceof DatabaseUnavailable))
      ctx.log({ level: 'warn', event: 'stream_failed', ...describeError(error) });
  });
  if (revoked) throw new VaultError('token_revoked');
  return revoked === false ? verdict : undefined;
}

/** An id that is not ours says as little about the place as none. */
function readLastId(given: string | null | undefined): Subscription['after'] {
  if (given === null || given === undefined || given === '') return undefined;
  return /^\d{1,15}$/.test(given) ? Number(given) : 'unknown';
}

function streamReply(body: ReadableStream<Uint8Array>): Reply {
  // Proxies would hold back what is not yet a full buffer.
  return { status: 200, headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }, body };
}
