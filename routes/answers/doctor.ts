import * as v from 'valibot';
import { about, Time, words } from './common.ts';

/** One finding. */
const check = v.object({
  area: about(v.string(), 'Its subject, such as `chain`'),
  name: about(v.string(), 'The check, such as `registrar`; several findings may share it'),
  state: about(words('ok', 'warn', 'fail', 'skipped'), '`warn` works, `skipped` could not be tried'),
  text: v.string(),
  remedy: about(v.optional(v.string()), 'The remedy'),
});

/** The findings of all checks. */
export const DoctorChecks = v.object({ checkedAt: Time, checks: v.array(check) });

/** The outcome of a test message. */
export const TestMessage = v.object({ check });
