import * as v from 'valibot';
import { createInvite, endInvite, INVITE_DAYS_MAX, INVITE_USES_MAX, listInvites } from '../../lib/admission/invites.ts';
import { InviteCreated, InviteRevoked, Invites } from '../answers/console.ts';
import { appName, identifierText } from '../fields.ts';
import { optional, required } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

const usesNumber = whole('uses', INVITE_USES_MAX);
const lifetimeNumber = whole('expires_in', INVITE_DAYS_MAX * 86_400);
const inviteId = whole('id', Number.MAX_SAFE_INTEGER);
const beforeText = v.pipe(
  v.string('Invalid before'),
  v.regex(/^[1-9]\d{0,14}$/, 'Invalid before'),
  v.transform(Number),
);

/** Invites, made, listed and revoked by the operator. */
export const inviteRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/invites', {
      summary: 'Invites, the newest first',
      answers: { 200: Invites },
      fields: { before: optional(beforeText) },
      async handler({ ctx, input }) {
        return json({ registration: ctx.config.registration, invites: await listInvites(ctx, input.before) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/invites', {
      summary: 'Make an invite',
      answers: { 200: InviteCreated },
      example: { uses: 5 },
      fields: {
        uses: optional(usesNumber),
        expires_in: optional(lifetimeNumber),
        identifier: optional(identifierText),
        app: optional(appName),
      },
      async handler({ ctx, input }) {
        const { uses, expires_in: expiresInSeconds, identifier, app } = input;
        return json({ ok: true, ...(await createInvite(ctx, { uses, expiresInSeconds, identifier, app })) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/invites/revoke', {
      summary: 'Revoke an invite',
      answers: { 200: InviteRevoked },
      errors: ['not_found'],
      fields: { id: required(inviteId) },
      async handler({ ctx, input }) {
        return json({ ok: true, invite: await endInvite(ctx, input.id) });
      },
    }),
  ),
] as const satisfies readonly Route[];

function whole(name: string, max: number) {
  const message = `Invalid ${name}`;
  return v.pipe(v.number(message), v.safeInteger(message), v.minValue(1, message), v.maxValue(max, message));
}
