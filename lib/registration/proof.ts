import { toBase64url } from '../base/bytes.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { badRequest } from '../base/error.ts';
import { isObject, parseJson } from '../base/json.ts';
import type { AccountKind } from '../chain/account.ts';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/url-parsers.ts';
import { judgeCeremony, type Place } from '../identity/ceremony.ts';
import { aliasHash, didHash } from '../identity/did.ts';
import { type Assertion, assertionOf, type P256PublicKey, verifyAssertion } from '../identity/passkey.ts';
import { identifierHash, NO_HASH, registrationChallenge } from './challenge.ts';
import type { RegistrationSubject } from './claim.ts';
import { proofInvalid } from './proof-fault.ts';

// The passkey proof, version 2 (completions-2 section 1.8; docs/passkey-proof.md).

/** How far ahead a proof may expire, and how far the caller's clock may be off. */
export const PROOF_LIFE_MAX_MS = 10 * MINUTE_MS;
export const PROOF_SKEW_MS = MINUTE_MS;

/** A proof as a request brings it: the assertion, and `proofExpiresAt` in seconds. */
export interface GivenProof {
  readonly assertion: Assertion;
  readonly expiresAt: number | undefined;
}

/**
 * A proof that fits its request; only its signature is still to be judged, by `verifyProof`. It is stored as JSON, so
 * that neither its expiry nor the settings are judged again.
 */
export interface OpenedProof {
  readonly version: 2;
  readonly assertion: Assertion;
  readonly registrarDidHash: `0x${string}`;
  readonly identifierHash: `0x${string}`;
  /** The controller that it names, 0x-hex, lower-case. */
  readonly smartAccount: `0x${string}`;
  /** Seconds since 1970. */
  readonly expiresAt: number;
  /** The key of `smartAccount`, 0x and x‖y in hex, where it was verified at the POST, and the kind of the account. */
  readonly key?: string;
  readonly kind?: AccountKind;
}

/** The values that the proof must have been made for; hashes and addresses are 0x-hex. */
export interface ExpectedConsent {
  readonly chainId: number;
  readonly registry: string;
  readonly didHash: string;
  /** `handle`, `email` or `sms`: only a handle's alias hash is part of the challenge. */
  readonly channel: string;
  readonly aliasHash: string;
  readonly controller: string;
  readonly credentialId: string;
}

type Ctx = { readonly config: ProofConfig };
type ProofConfig = Pick<
  Config,
  'baseUrl' | 'relatedOrigins' | 'appOrigins' | 'rpIds' | 'registrarDid' | 'chainId' | 'didRegistryAddress'
>;

/** The request that a proof belongs to. */
export interface ProvenRequest extends RegistrationSubject {
  readonly smartAccount: string | undefined;
  /** The signature of the attestation, 0x-hex; undefined for a handle. */
  readonly attestationSignature: string | undefined;
}

/**
 * Judges all of a proof but its signature, once, at the POST. Throws 403 `proof_invalid` with its reason, 400 without
 * `smartAccount`.
 */
export function openProof({ config }: Ctx, request: ProvenRequest, given: GivenProof, now: number): OpenedProof {
  const { assertion } = given;
  if (given.expiresAt !== undefined && request.smartAccount === undefined)
    throw badRequest('Missing required fields with proof: smartAccount');
  const { expiresAt, challenge } = openCeremony({ config }, given, now);
  const opened: OpenedProof = {
    version: 2,
    assertion,
    registrarDidHash: didHash(config.registrarDid),
    identifierHash: identifierHash(request.identifier, request.attestationSignature),
    smartAccount: (request.smartAccount ?? '').toLowerCase() as `0x${string}`,
    expiresAt,
  };
  const expected = expectedOf({ config }, request, opened.smartAccount);
  if (challenge !== toBase64url(challengeOf(opened, expected))) throw proofInvalid('challenge', config);
  return opened;
}

/**
 * Judges the time and the ceremony of a proof, whatever it is for, and returns the challenge that it names, base64url.
 * `place` is where it may be made, that of the settings if absent. Throws 403 `proof_invalid` with its reason.
 */
export function openCeremony(
  { config }: Ctx,
  { assertion, expiresAt }: GivenProof,
  now: number,
  place = placeOf(config),
): { readonly expiresAt: number; readonly challenge: string } {
  if (expiresAt === undefined) throw proofInvalid('version', config);
  if (now >= expiresAt * 1000 + PROOF_SKEW_MS) throw proofInvalid('expired', config);
  if (expiresAt * 1000 > now + PROOF_LIFE_MAX_MS + PROOF_SKEW_MS) throw proofInvalid('expires_too_late', config);
  const ceremony = judgeCeremony(assertion, place);
  if ('fault' in ceremony) throw proofInvalid(ceremony.fault, config);
  return { expiresAt, challenge: ceremony.challenge };
}

/** The values that a request's proof must have been made for, with this controller. */
export function expectedOf(
  { config }: Ctx,
  { identifier, did, credentialId }: RegistrationSubject,
  controller: string,
): ExpectedConsent {
  return {
    chainId: config.chainId,
    // Without a registry nothing is ever confirmed, so that no proof counts.
    registry: config.didRegistryAddress ?? `0x${'0'.repeat(40)}`,
    didHash: didHash(did),
    channel: identifier.channel,
    aliasHash: aliasHash(identifier.value),
    controller,
    credentialId,
  };
}

/**
 * The first reason why an opened proof does not show that the key consents, undefined if it does. `account`: it names
 * another controller. Pure, as expiry and settings were judged when it was opened.
 */
export async function verifyProof(
  opened: OpenedProof,
  expected: ExpectedConsent,
  key: P256PublicKey,
): Promise<'account' | 'signature' | undefined> {
  if (opened.smartAccount !== expected.controller.toLowerCase()) return 'account';
  const isSigned = await verifyAssertion(opened.assertion, challengeOf(opened, expected), key);
  return isSigned ? undefined : 'signature';
}

/** The text that is stored of an opened proof. */
export function proofText(opened: OpenedProof): string {
  return JSON.stringify(opened);
}

/**
 * A stored proof; undefined for one of version 1, which earlier releases stored and which proves nothing, and for
 * damaged text.
 */
export function storedProof(text: string | null): OpenedProof | undefined {
  const value = text === null ? undefined : parseJson(text);
  if (!isObject(value) || value['version'] !== 2) return undefined;
  const { registrarDidHash, identifierHash: hash, smartAccount, expiresAt, key } = value;
  if (![registrarDidHash, hash].every((one) => isHex(one, 32)) || !isHex(smartAccount, 20)) return undefined;
  if (!Number.isSafeInteger(expiresAt) || (key !== undefined && !isHex(key, 64))) return undefined;
  try {
    return { ...(value as unknown as OpenedProof), assertion: assertionOf(value['assertion']) };
  } catch {
    return undefined;
  }
}

function challengeOf(opened: OpenedProof, expected: ExpectedConsent): Uint8Array {
  return registrationChallenge({
    registrarDidHash: opened.registrarDidHash,
    chainId: expected.chainId,
    registry: expected.registry as `0x${string}`,
    didHash: expected.didHash as `0x${string}`,
    aliasHash: expected.channel === 'handle' ? (expected.aliasHash as `0x${string}`) : NO_HASH,
    smartAccount: opened.smartAccount,
    credentialId: expected.credentialId,
    identifierHash: opened.identifierHash,
    expiresAt: opened.expiresAt,
  });
}

/** The origins and RP IDs of the settings. A vault on loopback, in development, takes every origin there. */
function placeOf({ baseUrl, relatedOrigins, appOrigins, rpIds }: ProofConfig): Place {
  const origins = [baseUrl, ...relatedOrigins, ...appOrigins];
  const isLoopback = isLoopbackHost(new URL(baseUrl).hostname);
  return {
    rpIds,
    allowsOrigin: (origin) => origins.includes(origin) || (isLoopback && isLoopbackOrigin(origin)),
  };
}

function isLoopbackOrigin(origin: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  return isWeb && url?.origin === origin && isLoopbackHost(url.hostname);
}

function isHex(value: unknown, bytes: number): boolean {
  return typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[0-9a-f]+$/.test(value);
}
