import { count } from './limit-settings.ts';

/** The longest time, in days: ten years. */
const DAYS_MAX = 3_650;

/** Settings for how long the vault keeps data that nothing needs any more. */
export const KEEP_SETTINGS = {
  KEEP_EVENTS_DAYS: count('days for which events are kept', 7, 1, DAYS_MAX),
  KEEP_SIGNINS_DAYS: count(
    'days for which sign-ins of people are kept; 0 keeps none, and emits no event',
    30,
    0,
    DAYS_MAX,
  ),
  KEEP_VERIFICATIONS_DAYS: count(
    'days after the last verification for which an identifier counts as verified; 0 is for good',
    0,
    0,
    DAYS_MAX,
  ),
  KEEP_IPS_DAYS: count(
    'days for which IPs of linked sessions and networks of relays are kept, at least as long as limits count them; 0 is for good',
    0,
    0,
    DAYS_MAX,
  ),
};
