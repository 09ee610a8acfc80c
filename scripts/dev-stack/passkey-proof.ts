// The passkey proof of a registration (docs/passkey-proof.md), as a client makes it.
import type { Hex } from 'ox';
import { aliasHash, didHash } from '../../lib/identity/did.ts';
import { type Channel, parseIdentifier } from '../../lib/identity/identifier.ts';
import type { Assertion } from '../../lib/identity/passkey.ts';
import {
  identifierHash,
  NO_HASH,
  type RegistrationConsent,
  registrationChallenge,
} from '../../lib/registration/challenge.ts';
import type { Ceremony, Passkey } from './passkey.ts';

/** How long a proof lasts, in seconds, unless its maker says otherwise. */
const LIFE_SECONDS = 540;

/** The vault that a proof is for, as `GET /api/contracts` shows it. */
export interface ProofVault {
  readonly registrar: string;
  readonly chainId: number;
  readonly didRegistry: string;
}

/** The registration that a passkey agrees to. */
export interface ProofRequest {
  readonly identifier: string;
  readonly channel: string;
  readonly did: string;
  readonly credentialId: string;
  readonly smartAccount: string;
  /** The attestation of an address or a number. */
  readonly attestation?: unknown;
}

/** How a proof is made: when it ends, which values it replaces, how the authenticator behaves. */
export interface ProofOptions {
  /** Milliseconds; the proof ends `LIFE_SECONDS` later. */
  readonly now?: number;
  readonly change?: Partial<RegistrationConsent>;
  readonly ceremony?: Ceremony;
}

/** The members `proof`, `proofExpiresAt` and `smartAccount` of the request. */
export function proveRegistration(
  passkey: Passkey,
  { registrar, chainId, didRegistry }: ProofVault,
  request: ProofRequest,
  { now = Date.now(), change = {}, ceremony = {} }: ProofOptions = {},
): { proof: Assertion; proofExpiresAt: number; smartAccount: string } {
  const { did, credentialId, smartAccount } = request;
  const identifier = parseIdentifier(request.channel as Channel, request.identifier);
  const { signature } = (request.attestation ?? {}) as { signature?: string };
  const consent: RegistrationConsent = {
    registrarDidHash: didHash(registrar),
    chainId,
    registry: didRegistry as Hex.Hex,
    didHash: didHash(did),
    aliasHash: identifier.channel === 'handle' ? aliasHash(identifier.value) : NO_HASH,
    smartAccount: smartAccount as Hex.Hex,
    credentialId,
    identifierHash: identifierHash(identifier, signature),
    expiresAt: Math.floor(now / 1000) + LIFE_SECONDS,
    ...change,
  };
  const proof = passkey.assert(registrationChallenge(consent), ceremony);
  return { proof, proofExpiresAt: consent.expiresAt, smartAccount };
}
