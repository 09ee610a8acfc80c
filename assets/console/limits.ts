/** The limits of the console's page, unit last. */

export const EVENTS_KEPT_MAX = 1_000;
/** How many ids back the page asks for when it opens, so that it does not begin empty. */
export const EVENTS_BEFORE_MAX = 200;
export const TEXT_SHOWN_CHARS_MAX = 300;

export const OVERVIEW_POLL_MS = 5_000;
/** More than a tab in the background is held back (a minute): the computer slept. */
export const SLEPT_MS_MIN = 90_000;
export const REQUEST_TIMEOUT_MS = 15_000;
/** A mail server may take 20 seconds. */
export const TEST_MESSAGE_TIMEOUT_MS = 30_000;
/** A file of 100,000 rows over a slow line. */
export const FILE_TIMEOUT_MS = 600_000;

/** Rows that a list begins with, and that its button adds. */
export const ROWS_FIRST = 50;
export const ROWS_MORE = 100;
/** Requests for one page of a filter that finds few: each looks at 10,000 rows. */
export const ROWS_REQUESTS_MAX = 10;

/** A token is renewed after this part of its life, which leaves the rest for trying again. */
export const RENEW_AT_LIFE = 0.6;
export const RENEW_MS_MIN = 500;
/** The browser reconnects by itself within about three seconds; after this the page does it. */
export const RECONNECT_WAIT_MS = 6_000;
export const BACKOFF_FIRST_MS = 500;
export const BACKOFF_MS_MAX = 30_000;
