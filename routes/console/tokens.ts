import * as v from 'valibot';
import { offersCredentials } from '../../lib/config/credential-settings.ts';
import { EVENT_CHANNELS } from '../../lib/events/catalogue.ts';
import { describeKeys } from '../../lib/signing/signing-keys.ts';
import { readLiveTokens } from '../../lib/streams/live-tokens.ts';
import { issueToken, revokeToken } from '../../lib/tokens/tokens.ts';
import { ConsoleKeys, StreamToken, TokenRevoked } from '../answers/console.ts';
import { appOrAll } from '../fields.ts';
import { optional, required, word } from '../http/fields.ts';
import { demandRole, requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { type ActingOperator, get, post, type Route } from '../http/route.ts';

const eventChannels = v.pipe(
  v.string('Invalid channel'),
  v.check(
    (list) => list.split(',').every((one) => EVENT_CHANNELS.some((name) => name === one)),
    `Invalid channel. Must be of ${EVENT_CHANNELS.join(', ')}`,
  ),
);

/** The token by which a stream's is asked for; undefined for the secret. */
function askedBy(operator: ActingOperator | undefined) {
  const { cid, expiresAt } = operator ?? {};
  return cid && expiresAt ? { cid, expiresAt } : undefined;
}

/** The vault's keys by their public parts, and tokens of the event stream, issued and revoked by the operator. */
export const tokenRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/keys', {
      summary: "The vault's keys by their public parts, and the tokens that have opened a stream",
      answers: { 200: ConsoleKeys },
      async handler({ ctx }) {
        // Loads a curve, which no other route of a start needs.
        const { operatorDid } = await import('../../lib/identity/did-document.ts');
        return json({
          registrar_did: ctx.config.registrarDid,
          operator_did: operatorDid(ctx),
          attestation_keys: ctx.keys.attestation.length,
          registrar: (await ctx.relay?.address()) ?? null,
          guardian: (await ctx.guardian?.relay.address()) ?? null,
          credential_keys: offersCredentials(ctx.config) ? await describeKeys(ctx, 'ES256') : [],
          stream_tokens: await readLiveTokens(ctx),
        });
      },
    }),
  ),

  requireOperator(
    'viewer',
    post('/v1/console/token', {
      summary: 'Issue a token of the event stream',
      answers: { 200: StreamToken },
      fields: { app: required(appOrAll), channel: optional(eventChannels), renews: optional(word('renews')) },
      async handler({ ctx, input, operator }) {
        // The audit channel lists the actions of each operator.
        const channels = input.channel?.split(',') ?? EVENT_CHANNELS;
        if (channels.includes('audit')) demandRole(operator, 'operator');
        return json(await issueToken(ctx, input, { renews: input.renews, by: askedBy(operator) }));
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/revoke', {
      summary: 'Revoke a token or a delegation',
      answers: { 200: TokenRevoked },
      fields: { cid: required(word('cid')) },
      async handler({ ctx, input }) {
        const { cid, isNew } = await revokeToken(ctx, input.cid);
        return json({ ok: true, cid, revoked: isNew });
      },
    }),
  ),
] as const satisfies readonly Route[];
