import * as v from 'valibot';
import { about, Time, words } from './common.ts';

/** What the checks found. */
export const DoctorChecks = v.object({
  checkedAt: Time,
  checks: v.array(
    v.object({
      area: about(v.string(), 'What it belongs to, such as `chain`'),
      name: about(v.string(), 'What was checked, such as `registrar`; several findings may share it'),
      state: about(words('ok', 'warn', 'fail', 'skipped'), '`warn` works, `skipped` could not be tried'),
      text: v.string(),
      remedy: about(v.optional(v.string()), 'What to do'),
    }),
  ),
});
