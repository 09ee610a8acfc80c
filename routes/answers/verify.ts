import * as v from 'valibot';
import { TOKEN_FAULTS } from '../../lib/verification/email-token.ts';
import { Attestation, about, Channel, Count, Seconds, Time, words } from './common.ts';
import { CredentialIssued } from './credentials.ts';

/** A code was sent, or a pass alone. */
export const CodeSent = v.object({
  ok: v.literal(true),
  channel: v.picklist(['sms', 'email']),
  expires_in: about(Seconds, 'The lifetime of the code, in seconds'),
  retry_after: about(Seconds, 'Seconds until the next send is allowed'),
  challenge: about(v.string(), '128 random bits that belong to this code: bring them to the check'),
});

/** The outcome of a check of a code, or of a token. */
export const CodeChecked = v.union([
  v.object({ ok: v.literal(true), verified: v.literal(true), attestation: Attestation }),
  v.object({ ...CredentialIssued.entries, verified: v.literal(true) }),
  v.object({
    ok: v.literal(true),
    verified: v.literal(false),
    message: words('Incorrect code', 'Code expired', 'Too many attempts', 'No code was sent', 'Token refused'),
    reason: v.optional(about(words(...TOKEN_FAULTS), 'What is wrong with the token')),
    attempts_remaining: v.optional(about(Count, 'Only to the client that asked for the code')),
  }),
]);

/** Whether an address was ever proven. */
export const Verification = v.object({
  identifier: v.string(),
  channel: Channel,
  verified: v.boolean(),
  verifiedAt: v.nullable(Time),
});
