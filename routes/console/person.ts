import * as v from 'valibot';
import { DID_CHARS_MAX } from '../../lib/identity/did.ts';
import { erasePerson, planErasure } from '../../lib/person/erase.ts';
import { inWords, readPerson } from '../../lib/person/read.ts';
import { PersonErased, PersonExported, PersonShown } from '../answers/person.ts';
import { flag } from '../fields.ts';
import { optional, required, textField } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { post, type Route } from '../http/route.ts';

const fields = {
  identifier: required(textField('identifier', DID_CHARS_MAX)),
  after: optional(v.pipe(v.string('Invalid after'), v.maxLength(200, 'Invalid after'))),
};

/** What is stored of a person. The identifier is in the body: URLs are in the logs of proxies. */
export const personRoutes = [
  requireOperator(
    'operator',
    post('/v1/console/person/show', {
      summary: 'What is stored of a person, in words, page by page',
      answers: { 200: PersonShown },
      fields,
      async handler({ ctx, input }) {
        const { tables, ...page } = await readPerson(ctx, input.identifier, 'shown', input.after);
        return json({ ...page, tables: tables.map((one) => ({ ...one, rows: one.rows.map(inWords) })) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/person/export', {
      summary: 'What is stored of a person, as it is stored, page by page',
      answers: { 200: PersonExported },
      fields,
      async handler({ ctx, input }) {
        const { tables, ...page } = await readPerson(ctx, input.identifier, 'exported', input.after);
        return json({ ...page, tables: tables.map(({ table, about, rows }) => ({ table, about, rows })) });
      },
    }),
  ),

  requireOperator(
    'operator',
    post('/v1/console/person/erase', {
      summary: 'Erase a person, or say what that would do',
      answers: { 200: PersonErased },
      errors: ['identifier_busy'],
      fields: { identifier: fields.identifier, dryRun: optional(flag('dryRun')) },
      async handler({ ctx, input: { identifier, dryRun } }) {
        return json(await (dryRun ? planErasure(ctx, identifier) : erasePerson(ctx, identifier)));
      },
    }),
  ),
] as const satisfies readonly Route[];
