import { findRegistrations } from '../../lib/registration/list.ts';
import { json } from '../http/answer.ts';
import { credentialIdText, didText, identifierText, optional } from '../http/fields.ts';
import { forOperator } from '../http/operator-auth.ts';
import { get, type Row } from '../http/route.ts';

const rows: readonly Row[] = [
  get('/v1/console/registrations', {
    fields: {
      identifier: optional(identifierText),
      credentialId: optional(credentialIdText),
      did: optional(didText),
    },
    async handler({ vault, input }) {
      return json({ registrations: await findRegistrations(vault, input) });
    },
  }),
];

/** Registrations, found by the operator (completions section 11). */
export const registrationRoutes: readonly Row[] = rows.map(forOperator);
