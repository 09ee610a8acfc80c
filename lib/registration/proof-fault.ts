import { VaultError } from '../base/error.ts';
import type { Config } from '../config/config.ts';
import type { CeremonyFault } from '../identity/ceremony.ts';

/** Why a proof is refused: the `reason` beside `proof_invalid`. */
export type ProofFault =
  | 'version'
  | 'expired'
  | 'expires_too_late'
  | CeremonyFault
  | 'challenge'
  | 'nonce'
  | 'account'
  | 'signature';

type FaultConfig = Pick<Config, 'rpIds' | 'chainId' | 'registrarDid'>;

/** The 403 for a proof, with a sentence that names the remedy. */
export function proofInvalid(reason: ProofFault, config: FaultConfig): VaultError {
  return new VaultError('proof_invalid', { reason, hint: HINTS[reason](config) });
}

const SEE = 'see docs/passkey-proof.md';
const UNREADABLE = 'is not what a passkey returns: send the bytes of the response unchanged, as base64url.';

const HINTS: Readonly<Record<ProofFault, (config: FaultConfig) => string>> = {
  version: () => `Make a proof of version 2 and send proofExpiresAt; ${SEE}.`,
  expired: () => 'proofExpiresAt, in seconds, has passed: ask the passkey again.',
  expires_too_late: () => 'proofExpiresAt must be in seconds and at most 10 minutes ahead.',
  client_data: () => `clientDataJSON ${UNREADABLE}`,
  authenticator_data: () => `authenticatorData ${UNREADABLE}`,
  type: () => 'Use navigator.credentials.get: clientDataJSON must have the type webauthn.get.',
  cross_origin: () => "Ask the passkey in the top page: another origin's frame is refused.",
  origin: () => "The page's origin must be that of BASE_URL, or in RELATED_ORIGINS or APP_ORIGINS of the vault.",
  rp_id: ({ rpIds }) => `The passkey must belong to one of the RP IDs ${rpIds.join(', ')} (RP_IDS of the vault).`,
  user_presence: () => 'The authenticator did not ask for the presence of the user.',
  user_verification: () => 'Ask the passkey with userVerification "required".',
  backup_state: () => 'The authenticator says that the passkey is backed up and cannot be: use another one.',
  challenge: ({ chainId, registrarDid }) =>
    `The challenge is of other values; this vault has the chain ${chainId} and the registrar ${registrarDid}; ${SEE}.`,
  nonce: () =>
    'The nonce is not of this request, or older than 5 minutes: ask for another one, then the passkey again.',
  account: () => 'smartAccount must be the account of the key and the salt, or have the key: GET /api/accounts/state.',
  signature: () => 'The key did not sign this assertion: send the signature in DER, by the key of smartAccount.',
};
