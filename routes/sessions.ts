import { badRequest } from '../lib/base/error.ts';
import { isDid } from '../lib/identity/did.ts';
import { inferChannel, parseIdentifier, parseQueryIdentifier } from '../lib/identity/identifier.ts';
import { checkAvailability } from '../lib/registration/lookup.ts';
import { countSessions, openSession } from '../lib/sessions/sessions.ts';
import { Availability, SessionCounts, SessionOpened } from './answers/registrations.ts';
import { ADMISSION_ERRORS, channelName, didText, identifierText, inviteText } from './fields.ts';
import { isMissing, optional, required } from './http/fields.ts';
import { json } from './http/response.ts';
import { get, post, type Route } from './http/route.ts';

/** Registration sessions: opened, counted, and whether an identifier is still free. */
export const sessionRoutes = [
  post('/api/sessions', {
    summary: 'Hold an identifier for a DID',
    limit: 'writes',
    fields: {
      identifier: required(identifierText),
      channel: required(channelName),
      did: required(didText),
      invite: optional(inviteText),
    },
    answers: { 200: SessionOpened },
    errors: [...ADMISSION_ERRORS, 'identifier_reserved', 'identifier_taken', 'ip_limit_reached'],
    prepare: withHandle,
    idempotency: { scope: ({ channel, identifier }, config) => parseIdentifier(channel, identifier, config).key },
    async handler({ ctx, app, input, client, keep, spendProxy }) {
      const { did, invite } = input;
      const identifier = parseIdentifier(input.channel, input.identifier, ctx.config);
      if (!isDid(did, ctx.config.didMethods)) throw badRequest('Invalid did');
      const reply = json({ ok: true, identifier: identifier.value, channel: identifier.channel, did });
      await openSession(
        ctx,
        { identifier, did, invite, ip: client, app, spend: spendProxy },
        keep ? [keep(reply)] : [],
      );
      return reply;
    },
  }),

  get('/api/sessions/status', {
    summary: 'How many sessions there are, of this address and in all',
    limit: 'reads',
    answers: { 200: SessionCounts },
    async handler({ ctx, client }) {
      const { byIp, total } = await countSessions(ctx, client);
      return json({
        ip_registrations: byIp,
        ip_limit: ctx.config.maxRegistrationsPerIp,
        total_registrations: total,
      });
    },
  }),

  get('/api/sessions/check', {
    summary: 'Whether an identifier may still be registered',
    limit: 'reads',
    fields: { identifier: required(identifierText), channel: optional(channelName) },
    answers: { 200: Availability },
    async handler({ ctx, input, spendProxy }) {
      const channel = input.channel ?? inferChannel(input.identifier);
      const identifier = parseQueryIdentifier(channel, input.identifier, ctx.config);
      const availability = await checkAvailability(ctx, identifier, spendProxy);
      return json({ identifier: identifier.value, channel, ...availability });
    },
  }),
] as const satisfies readonly Route[];

/** Published clients send `handle` or `name` in place of `identifier`; the channel then defaults to `handle`. */
export function withHandle(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!isMissing(record, 'identifier')) return record;
  const alias = ['handle', 'name'].find((name) => !isMissing(record, name));
  if (alias === undefined) return record;
  const channel = isMissing(record, 'channel') ? 'handle' : record['channel'];
  return { ...record, identifier: record[alias], channel };
}
