import * as v from 'valibot';
import { Address, about, Channel, Did, Seconds, Time, words } from './common.ts';

/** What the sign-up page learns of the vault. */
export const RegisterConfig = v.object({
  issuer: about(v.string(), "The vault's origin, `iss` of its answers"),
  rpId: v.string(),
  registrar: Did,
  channels: v.array(words('email', 'sms')),
  moveHours: about(v.number(), 'ADDRESS_MOVE_HOURS'),
  recovers: about(v.boolean(), 'Whether accounts can be recovered by mail'),
  full: about(
    v.nullable(v.object({ error: words('ip_limit_reached', 'relay_limit_reached'), retry_after: v.nullable(Seconds) })),
    "What refuses new accounts for the caller's network now",
  ),
});

/** Who signed up or in. */
export const ProvenPerson = v.object({
  did: Did,
  smartAccount: Address,
  identifiers: about(
    v.array(
      v.object({
        identifier: v.string(),
        channel: Channel,
        proof: words('attestation', 'alias'),
        registeredAt: Time,
      }),
    ),
    'What the DID holds by this passkey',
  ),
  status: words('submitted', 'confirmed'),
  final: v.boolean(),
  proven: v.boolean(),
  proofs: v.object({
    identifier: v.nullable(words('attestation', 'alias')),
    controller: v.nullable(v.literal('passkey')),
    did: v.nullable(words('address', 'moved')),
  }),
  verified_at: about(Time, 'When the vault last saw proof of the person'),
});
