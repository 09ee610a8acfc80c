import * as v from 'valibot';
import { browseRegistrations, exportRegistrations, REGISTRATION_COLUMNS } from '../../lib/registration/browse.ts';
import {
  findRegistrations,
  REGISTRATION_STATUSES,
  readRegistration,
  undoClaim,
} from '../../lib/registration/operator.ts';
import { RegistrationDetail, Registrations, RegistrationUndone } from '../answers/registrations.ts';
import { credentialIdText, didText, identifierText, registrationId } from '../fields.ts';
import { optional, required } from '../http/fields.ts';
import { demandRole, requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';
import { answerFile, EXPORT_ANSWERS, fileFields, filterFields, needNone, pageFields } from './lists.ts';

const MESSAGE = 'Invalid id';
const registrationIdText = v.pipe(v.string(MESSAGE), v.regex(/^[1-9]\d{0,14}$/, MESSAGE), v.transform(Number));

const filters = {
  status: optional(v.picklist(REGISTRATION_STATUSES, 'Invalid status. Must be "submitted", "confirmed" or "failed"')),
  ...filterFields,
};

/** Registrations, found, listed, exported and undone by the operator (completions section 11, completions-2 §1.1). */
export const registrationRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/registrations', {
      summary: 'Registrations, the newest first; or those of an identifier, a credential or a DID',
      answers: { 200: Registrations },
      example: { status: 'confirmed' },
      fields: {
        identifier: optional(identifierText),
        credentialId: optional(credentialIdText),
        did: optional(didText),
        ...filters,
        ...pageFields,
      },
      async handler({ ctx, operator, input: { identifier, credentialId, did, ...filter } }) {
        if ((identifier ?? credentialId ?? did) === undefined) return json(await browseRegistrations(ctx, filter));
        demandRole(operator, 'operator');
        needNone(filter, 'Expected no filter beside identifier, credentialId or did');
        const registrations = await findRegistrations(ctx, { identifier, credentialId, did });
        return json({ registrations, next: null, searchedTo: null, total: null });
      },
    }),
  ),

  requireOperator(
    'viewer',
    get('/v1/console/registrations/detail', {
      summary: 'A registration with its relay, session and codes',
      answers: { 200: RegistrationDetail },
      errors: ['not_found'],
      fields: { id: required(registrationIdText) },
      async handler({ ctx, input }) {
        return json(await readRegistration(ctx, input.id));
      },
    }),
  ),

  requireOperator(
    'operator',
    get('/v1/console/registrations/export', {
      summary: 'Registrations as a file, the newest first',
      answers: EXPORT_ANSWERS,
      example: { format: 'csv' },
      fields: { ...filters, ...fileFields },
      async handler({ ctx, request, input: { format = 'csv', ...filter } }) {
        const open = () => exportRegistrations(ctx, filter, format);
        const file = { list: 'registrations', columns: REGISTRATION_COLUMNS, format };
        return answerFile({ ...file, request, now: ctx.clock.now(), open });
      },
    }),
  ),

  requireOperator(
    'operator',
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
