import { findRegistrations } from '../../lib/registration/list.ts';
import { credentialIdText, didText, identifierText } from '../fields.ts';
import { optional } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, type Route } from '../http/route.ts';

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
];

/** Registrations, found by the operator (completions section 11). */
export const registrationRoutes: readonly Route[] = routes.map(requireOperator);
