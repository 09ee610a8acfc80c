import * as v from 'valibot';
import { VaultError } from '../../lib/base/error.ts';
import { describeError } from '../../lib/base/log.ts';
import type { Context } from '../../lib/context.ts';
import { EVENT_CHANNELS, type EventChannel } from '../../lib/events/catalogue.ts';
import { endedStream, type Subscription } from '../../lib/streams/hub.ts';
import { checkConsoleToken } from '../../lib/tokens/console-token.ts';
import { isRevoked } from '../../lib/tokens/tokens.ts';
import type { Answer } from '../http/answer.ts';
import { appName, optional } from '../http/fields.ts';
import { bearerOf } from '../http/operator-auth.ts';
import { get, type Row } from '../http/route.ts';

const channelList = v.pipe(
  v.string('Invalid channel'),
  v.transform((list) => [...new Set(list.split(','))]),
  v.array(v.picklist(EVENT_CHANNELS, `Invalid channel. Must be of ${EVENT_CHANNELS.join(', ')}`)),
);

/** The live stream of events (completions section 11). It is never refused for a moment's trouble, since a browser would give up for good. */
export const eventRoutes: readonly Row[] = [
  get('/v1/console/events', {
    fields: {
      app: optional(appName),
      channel: optional(channelList),
      token: optional(v.string()),
      ucan: optional(v.string()),
      access_token: optional(v.string()),
      last_event_id: optional(v.string()),
    },
    async handler({ vault, app: named, request, input }) {
      // `X-Vault-App` names the app where the query does not.
      const { app = named, channel: channels = EVENT_CHANNELS } = input;
      const token = input.token ?? input.ucan ?? input.access_token ?? bearerOf(request);
      const rights = await readRights(vault, token, { app, channels });
      // HEAD must not take the stream over from whoever reads it.
      if (!rights || request.method === 'HEAD') return answer(endedStream());
      const { cid, cids, expiresAt } = rights;
      // The header comes from the browser's own reconnect, which repeats a query that is older.
      const after = readLastId(request.headers.get('last-event-id') || input.last_event_id);
      return answer(await vault.hub.open({ app, channels, cid, cids, expiresAt, after }));
    },
  }),
];

/** What the token gives a right to; undefined when the database cannot tell. Throws 401 and 403. */
async function readRights(
  vault: Context,
  token: string | undefined,
  asked: { readonly app: string; readonly channels: readonly EventChannel[] },
) {
  const verdict = await checkConsoleToken(vault, token, { ...asked, now: vault.clock.now() });
  if (!verdict.ok) throw new VaultError(verdict.error);
  const revoked = await isRevoked(vault, verdict.cids).catch((error) => {
    vault.log({ level: 'warn', event: 'stream_failed', ...describeError(error) });
  });
  if (revoked) throw new VaultError('token_revoked');
  return revoked === false ? verdict : undefined;
}

/** What is no id of ours says as little of the place as one that was never given. */
function readLastId(given: string | null | undefined): Subscription['after'] {
  if (given === null || given === undefined || given === '') return undefined;
  return /^\d{1,15}$/.test(given) ? Number(given) : 'unknown';
}

function answer(body: ReadableStream<Uint8Array>): Answer {
  // Proxies would hold back what is not yet a full buffer.
  return { status: 200, headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }, body };
}
