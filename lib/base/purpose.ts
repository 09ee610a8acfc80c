/** The purposes of a code: each is for one thing, and nothing else takes what it proves. */
export const PURPOSES = ['registration', 'recovery', 'credential'] as const;

/** What a code is for. */
export type Purpose = (typeof PURPOSES)[number];
