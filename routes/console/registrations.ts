import * as v from 'valibot';
import { findRegistrations } from '../../lib/registration/list.ts';
import { undoClaim } from '../../lib/registration/undo.ts';
import { credentialIdText, didText, identifierText } from '../fields.ts';
import { optional, required } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

const registrationId = v.pipe(v.number('Invalid id'), v.safeInteger('Invalid id'), v.minValue(1, 'Invalid id'));

const routes: readonly Route[] = [
  get('/v1/console/registrations', {
    fields: {
      identifier: optional(identifierText),
      credentialId: optional(credentialIdText),
      did: optional(didText),
    },
    async handler({ ctx, input }) {
      return json({ registrations: await findRegistrations(ctx, input) });
    },
  }),

  post('/v1/console/registrations/undo', {
    fields: { id: required(registrationId) },
    async handler({ ctx, input }) {
      return json({ ok: true, ...(await undoClaim(ctx, input.id)) });
    },
  }),
];

/** Registrations, found and undone by the operator (completions section 11, completions-2 section 1.1). */
export const registrationRoutes: readonly Route[] = routes.map(requireOperator);
