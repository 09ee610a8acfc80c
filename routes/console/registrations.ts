import * as v from 'valibot';
import { findRegistrations } from '../../lib/registration/list.ts';
import { undoClaim } from '../../lib/registration/undo.ts';
import { Registrations, RegistrationUndone } from '../answers/registrations.ts';
import { credentialIdText, didText, identifierText } from '../fields.ts';
import { optional, required } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

const registrationId = v.pipe(v.number('Invalid id'), v.safeInteger('Invalid id'), v.minValue(1, 'Invalid id'));

/** Registrations, found and undone by the operator (completions section 11, completions-2 section 1.1). */
export const registrationRoutes = [
  requireOperator(
    get('/v1/console/registrations', {
      summary: 'The registrations of an identifier, a credential or a DID',
      answers: { 200: Registrations },
      example: { identifier: 'ada@example.com' },
      fields: {
        identifier: optional(identifierText),
        credentialId: optional(credentialIdText),
        did: optional(didText),
      },
      async handler({ ctx, input }) {
        return json({ registrations: await findRegistrations(ctx, input) });
      },
    }),
  ),

  requireOperator(
    post('/v1/console/registrations/undo', {
      summary: 'Fail a registration that took an address over wrongly',
      answers: { 200: RegistrationUndone },
      errors: ['not_found'],
      fields: { id: required(registrationId) },
      async handler({ ctx, input }) {
        return json({ ok: true, ...(await undoClaim(ctx, input.id)) });
      },
    }),
  ),
] as const satisfies readonly Route[];
