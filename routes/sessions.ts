import { badRequest } from '../lib/base/error.ts';
import { isDid } from '../lib/identity/did.ts';
import { inferChannel, parseIdentifier } from '../lib/identity/identifier.ts';
import { checkAvailability } from '../lib/registration/lookup.ts';
import { countSessions, openSession } from '../lib/sessions/sessions.ts';
import { json } from './http/answer.ts';
import { channelName, didText, identifierText, isMissing, optional, required } from './http/fields.ts';
import { get, post, type Row } from './http/route.ts';

/** Registration sessions: opened, counted, and whether an identifier is still free. */
export const sessionRoutes: readonly Row[] = [
  post('/api/sessions', {
    fields: { identifier: required(identifierText), channel: required(channelName), did: required(didText) },
    prepare: withHandle,
    idempotency: { scope: ({ channel, identifier }) => parseIdentifier(channel, identifier).key },
    async handler({ vault, app, input, client, keep }) {
      const { did } = input;
      const identifier = parseIdentifier(input.channel, input.identifier);
      if (!isDid(did, vault.config.didMethods)) throw badRequest('Invalid did');
      const answer = json({ ok: true, identifier: identifier.value, channel: identifier.channel, did });
      await openSession(vault, { identifier, did, ip: client, app }, keep ? [keep(answer)] : []);
      return answer;
    },
  }),

  get('/api/sessions/status', {
    limit: 'reads',
    async handler({ vault, client }) {
      const { byIp, total } = await countSessions(vault, client);
      return json({
        ip_registrations: byIp,
        ip_limit: vault.config.maxRegistrationsPerIp,
        total_registrations: total,
      });
    },
  }),

  get('/api/sessions/check', {
    limit: 'reads',
    fields: { identifier: required(identifierText), channel: optional(channelName) },
    async handler({ vault, input }) {
      const channel = input.channel ?? inferChannel(input.identifier);
      const identifier = parseIdentifier(channel, input.identifier);
      const availability = await checkAvailability(vault, identifier);
      return json({ identifier: identifier.value, channel, ...availability });
    },
  }),
];

/** Published clients send `handle` or `name` in place of `identifier`; the channel then defaults to `handle`. */
export function withHandle(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!isMissing(record, 'identifier')) return record;
  const alias = ['handle', 'name'].find((name) => !isMissing(record, name));
  if (alias === undefined) return record;
  const channel = isMissing(record, 'channel') ? 'handle' : record['channel'];
  return { ...record, identifier: record[alias], channel };
}
