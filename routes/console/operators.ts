import * as v from 'valibot';
import { isoTime } from '../../lib/base/clock.ts';
import { badRequest } from '../../lib/base/error.ts';
import {
  addOperator,
  listOperators,
  OPERATOR_DAYS_MAX,
  OPERATOR_ROLES,
  revokeOperator,
  revokeOperators,
} from '../../lib/tokens/operators.ts';
import { OperatorAdded, Operators, OperatorsRevoked, WhoCalls } from '../answers/operators.ts';
import { flag } from '../fields.ts';
import { optional, required, textField } from '../http/fields.ts';
import { requireOperator } from '../http/operator-auth.ts';
import { json } from '../http/response.ts';
import { get, post, type Route } from '../http/route.ts';

const roleName = v.picklist(OPERATOR_ROLES, `Invalid role. Must be of ${OPERATOR_ROLES.join(', ')}`);
const DAYS = `Invalid days: expected 1 to ${OPERATOR_DAYS_MAX}`;
const daysNumber = v.pipe(
  v.number(DAYS),
  v.safeInteger(DAYS),
  v.minValue(1, DAYS),
  v.maxValue(OPERATOR_DAYS_MAX, DAYS),
);
const operatorName = textField('name', 64);

/** Operators with names: the caller, and with the secret the list of all. */
export const operatorRoutes = [
  requireOperator(
    'viewer',
    get('/v1/console/operator', {
      summary: 'The operator of this token or secret, and the role',
      answers: { 200: WhoCalls },
      async handler({ operator }) {
        const { name = '', role = 'viewer', expiresAt = null } = operator ?? {};
        return json({ name, role, expires_at: expiresAt === null ? null : isoTime(expiresAt) });
      },
    }),
  ),

  requireOperator(
    'root',
    get('/v1/console/operators', {
      summary: 'Operators with names, and when their tokens end',
      answers: { 200: Operators },
      async handler({ ctx }) {
        return json({ operators: await listOperators(ctx) });
      },
    }),
  ),

  requireOperator(
    'root',
    post('/v1/console/operators', {
      summary: 'Give an operator a name and a token',
      answers: { 200: OperatorAdded },
      errors: ['operator_exists'],
      example: { name: 'ada', role: 'viewer' },
      fields: { name: required(operatorName), role: required(roleName), days: optional(daysNumber) },
      async handler({ ctx, input }) {
        return json({ ok: true, ...(await addOperator(ctx, input)) });
      },
    }),
  ),

  requireOperator(
    'root',
    post('/v1/console/operators/revoke', {
      summary: "End an operator's token, or all of them",
      answers: { 200: OperatorsRevoked },
      errors: ['not_found'],
      example: { name: 'ada' },
      fields: { name: optional(operatorName), all: optional(flag('all')) },
      async handler({ ctx, input: { name, all = false } }) {
        if ((name === undefined) !== all) throw badRequest('Expected one of: name, all');
        if (name === undefined) return json({ ok: true, revoked: await revokeOperators(ctx) });
        await revokeOperator(ctx, name);
        return json({ ok: true, revoked: 1 });
      },
    }),
  ),
] as const satisfies readonly Route[];
