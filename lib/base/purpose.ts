/** The purposes of a code. Proof for one purpose is never accepted for another. */
export const PURPOSES = ['registration', 'recovery', 'credential'] as const;

/** The purpose of a code. */
export type Purpose = (typeof PURPOSES)[number];

/** A purpose whose code gives an attestation; one for a credential gives that alone. */
export type AttestedPurpose = Exclude<Purpose, 'credential'>;
