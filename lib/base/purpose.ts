/** The purposes of a code. Proof for one purpose is never accepted for another. */
export const PURPOSES = ['registration', 'recovery', 'credential'] as const;

/** The purpose of a code. */
export type Purpose = (typeof PURPOSES)[number];
