import * as v from 'valibot';
import { about, Count, Time } from './common.ts';

const name = about(v.string(), "In each event of the operator's actions");

/** The holder of the token or secret that a request carries. */
export const WhoCalls = v.object({
  name: about(v.string(), '`root` for the operator secret'),
  role: v.picklist(['viewer', 'operator', 'root']),
  expires_at: about(v.nullable(Time), 'When the token ends; null for the secret'),
});

const Operator = v.object({
  name,
  role: v.picklist(['viewer', 'operator']),
  status: v.picklist(['live', 'expired']),
  created_at: Time,
  expires_at: Time,
});

/** Operators with names. */
export const Operators = v.object({ operators: v.array(Operator) });

/** An operator was added. */
export const OperatorAdded = v.object({
  ok: v.literal(true),
  token: about(v.string(), 'Shown once: the vault keeps its CID'),
  operator: Operator,
});

/** Tokens of operators were ended. */
export const OperatorsRevoked = v.object({ ok: v.literal(true), revoked: Count });
