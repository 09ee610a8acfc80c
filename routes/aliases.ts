import { badRequest } from '../lib/base/error.ts';
import { EXPECTED, normalHandle } from '../lib/identity/identifier.ts';
import { checkAlias } from '../lib/registration/lookup.ts';
import { AliasAvailability } from './answers/registrations.ts';
import { aliasText } from './fields.ts';
import { isMissing, required } from './http/fields.ts';
import { json } from './http/response.ts';
import { get, type Route } from './http/route.ts';

const NAMES = ['alias', 'handle', 'name', 'identifier'];

/** Handle aliases: whether one is free, and its canonical hash. */
export const aliasRoutes = [
  get('/api/aliases/check', {
    summary: 'Whether a handle may still be registered',
    limit: 'reads',
    fields: { alias: required(aliasText) },
    answers: { 200: AliasAvailability },
    prepare: (query) => ({ alias: query[NAMES.find((name) => !isMissing(query, name)) ?? 'alias'] }),
    async handler({ ctx, input, spendProxy }) {
      const value = normalHandle(input.alias);
      if (value === undefined) throw badRequest('Invalid alias', EXPECTED.handle);
      return json(await checkAlias(ctx, { channel: 'handle', value, key: `handle:${value}` }, spendProxy));
    },
  }),
] as const satisfies readonly Route[];
