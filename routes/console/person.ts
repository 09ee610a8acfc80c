import * as v from 'valibot';
import { badRequest } from '../../lib/base/error.ts';
import type { Context } from '../../lib/context.ts';
import { DID_CHARS_MAX } from '../../lib/identity/did.ts';
import { erasePerson, planErasure } from '../../lib/person/erase.ts';
import { inWords, readPerson } from '../../lib/person/read.ts';
import { identifierOf } from '../../lib/registration/operator.ts';
import { PersonErased, PersonExported, PersonShown } from '../answers/person.ts';
import { flag, registrationId } from '../fields.ts';
import { optional, textField } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { post, type Route } from '../http/route.ts';

const fields = {
  identifier: optional(textField('identifier', DID_CHARS_MAX)),
  registration: optional(registrationId),
  after: optional(v.pipe(v.string('Invalid after'), v.maxLength(200, 'Invalid after'))),
};

/** The person of a request, by one of the two fields. Lists mask identifiers, so a row is named by its number. */
async function whom(ctx: Context, { identifier, registration }: Whom): Promise<string> {
  if ((identifier === undefined) === (registration === undefined))
    throw badRequest('Expected one of: identifier, registration');
  return identifier ?? identifierOf(ctx, registration ?? 0);
}

interface Whom {
  readonly identifier?: string | undefined;
  readonly registration?: number | undefined;
}

/** A person's stored data. The identifier is in the body: URLs are in the logs of proxies. */
export const personRoutes = [
  requireOperator(
    'operator',
    post('/v1/console/person/show', {
      summary: "A person's stored data, in words, page by page",
      answers: { 200: PersonShown },
      errors: ['not_found'],
      example: { identifier: 'ada@example.com' },
      fields,
      async handler({ ctx, input }) {
        const { tables, ...page } = await readPerson(ctx, await whom(ctx, input), 'shown', input.after);
        return json({ ...page, tables: tables.map((one) => ({ ...one, rows: one.rows.map(inWords) })) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/person/export', {
      summary: "A person's stored data, as it is stored, page by page",
      answers: { 200: PersonExported },
      errors: ['not_found'],
      example: { identifier: 'ada@example.com' },
      fields,
      async handler({ ctx, input }) {
        const { tables, ...page } = await readPerson(ctx, await whom(ctx, input), 'exported', input.after);
        return json({ ...page, tables: tables.map(({ table, about, rows }) => ({ table, about, rows })) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/person/erase', {
      summary: 'Erase a person, or report the effect in advance',
      answers: { 200: PersonErased },
      errors: ['identifier_busy', 'not_found'],
      example: { identifier: 'ada@example.com' },
      fields: { identifier: fields.identifier, registration: fields.registration, dryRun: optional(flag('dryRun')) },
      async handler({ ctx, input: { dryRun, ...input } }) {
        const identifier = await whom(ctx, input);
        return json(await (dryRun ? planErasure(ctx, identifier) : erasePerson(ctx, identifier)));
      },
    }),
  ),
] as const satisfies readonly Route[];
