import { badRequest, VaultError } from '../lib/base/error.ts';
import type { AccountKey } from '../lib/chain/account.ts';
import type { Context } from '../lib/context.ts';
import { isDid } from '../lib/identity/did.ts';
import { parseIdentifier } from '../lib/identity/identifier.ts';
import { assertionOf, parseCredentialId } from '../lib/identity/passkey.ts';
import { releaseAddress } from '../lib/moves/release.ts';
import type { RegistrationSubject } from '../lib/registration/claim.ts';
import { findDid } from '../lib/registration/lookup.ts';
import { recordRegistration } from '../lib/registration/record.ts';
import { relayRegistration } from '../lib/registration/relay-request.ts';
import { readMovesAt } from '../lib/registration/waiting.ts';
import { Attestation, Proof } from './answers/common.ts';
import { DidRecord, Registered, RegistrationSubmitted, Released } from './answers/registrations.ts';
import {
  ADMISSION_ERRORS,
  addressText,
  blockNumberValue,
  channelName,
  credentialIdText,
  didText,
  identifierText,
  inviteText,
  judged,
  proofExpiresAtValue,
  provableChannelName,
  pubKeyHex,
  saltNumber,
  txHashText,
} from './fields.ts';
import { checkField, isMissing, optional, required, type Values, word } from './http/fields.ts';
import { json, type Reply } from './http/response.ts';
import { type Call, get, post, type Route } from './http/route.ts';
import { withHandle } from './sessions.ts';

/** The fields that every registration has. */
const SUBJECT = {
  credentialId: required(credentialIdText),
  identifier: required(identifierText),
  channel: required(channelName),
  did: required(didText),
  invite: optional(inviteText),
};

/** A registration that the vault makes on-chain itself: without `txHash`. */
const RELAYED = {
  ...SUBJECT,
  smartAccount: required(addressText('smartAccount')),
  pubKeyX: required(pubKeyHex),
  pubKeyY: required(pubKeyHex),
  proof: required(judged(Proof)),
  proofExpiresAt: optional(proofExpiresAtValue),
  salt: optional(saltNumber),
  attestation: optional(judged(Attestation)),
};

/** The key of a recorded registration's proof: read only beside a proof. */
const PROOF_KEY = {
  pubKeyX: optional(judged(pubKeyHex)),
  pubKeyY: optional(judged(pubKeyHex)),
  salt: optional(judged(saltNumber)),
};

const REGISTRATION_ERRORS = [
  ...ADMISSION_ERRORS,
  'attestation_invalid',
  'attestation_mismatch',
  'attestation_expired',
  'attestation_used',
  'proof_invalid',
  'credential_already_registered',
  'identifier_taken',
  'identifier_reserved',
  'ip_limit_reached',
  'rpc_error',
  'identifier_busy',
  'registry_missing',
] as const;
const RELAY_ERRORS = ['did_not_yours', 'did_taken', 'relay_limit_reached', 'relay_unfunded'] as const;

/** DIDs: registrations recorded, or made on-chain for their owners, and looked up by passkey. */
export const didRoutes = [
  post('/api/dids', {
    summary: 'Record a DID that is on-chain, or have it registered',
    limit: 'writes',
    fields: {
      ...SUBJECT,
      txHash: required(txHashText),
      blockNumber: optional(blockNumberValue),
      smartAccount: optional(addressText('smartAccount')),
      proof: optional(judged(Proof)),
      proofExpiresAt: optional(proofExpiresAtValue),
      ...PROOF_KEY,
      attestation: optional(judged(Attestation)),
    },
    answers: { 200: Registered, 202: RegistrationSubmitted },
    errors: [...REGISTRATION_ERRORS, ...RELAY_ERRORS],
    example: { channel: 'handle', identifier: 'ada' },
    other: { applies: isRelayed, limit: 'proxy', fields: RELAYED, handler: relayDid },
    prepare: withHandle,
    idempotency: { scope: ({ channel, identifier }, config) => parseIdentifier(channel, identifier, config).key },
    async handler({ ctx, app, input, client, spendProxy }) {
      const subject = subjectOf(ctx, input);
      const { txHash, blockNumber, smartAccount, attestation } = input;
      const assertion = input.proof === undefined ? undefined : assertionOf(input.proof);
      const recording = {
        ...subject,
        txHash,
        ...(blockNumber === undefined ? {} : { blockNumber }),
        ...(smartAccount === undefined ? {} : { smartAccount }),
        ...(assertion === undefined ? {} : { proof: { assertion, expiresAt: input.proofExpiresAt }, ...keyOf(input) }),
        attestation,
      };
      await recordRegistration(ctx, recording, { ip: client, app, spend: spendProxy });
      const { value, channel } = subject.identifier;
      return json({ ok: true, identifier: value, channel, txHash, ...(await waitingOf(ctx, subject)) });
    },
  }),

  post('/api/dids/release', {
    summary: 'Let another DID have an address',
    limit: 'writes',
    fields: {
      identifier: required(identifierText),
      channel: required(provableChannelName),
      proof: required(judged(Proof)),
      nonce: required(word('nonce', 64)),
    },
    answers: { 200: Released },
    errors: ['no_challenge', 'proof_invalid', 'rpc_error'],
    example: { nonce: '$NONCE' },
    async handler({ ctx, input, spendProxy }) {
      spendProxy();
      const identifier = parseIdentifier(input.channel, input.identifier, ctx.config);
      const moved = await releaseAddress(ctx, { identifier, assertion: assertionOf(input.proof), nonce: input.nonce });
      return json({ ok: true, moved });
    },
  }),

  get('/api/dids/lookup', {
    summary: 'Where a credential leads',
    limit: 'reads',
    fields: {
      credentialId: required(credentialIdText),
      pubKeyX: optional(pubKeyHex),
      pubKeyY: optional(pubKeyHex),
    },
    answers: { 200: DidRecord },
    errors: ['not_found'],
    async handler({ ctx, input }) {
      const { pubKeyX: x, pubKeyY: y } = input;
      if ((x === undefined) !== (y === undefined)) throw badRequest('Expected both or none of: pubKeyX, pubKeyY');
      const key = x === undefined || y === undefined ? {} : { key: { x, y } };
      return json(await findDid(ctx, { credentialId: parseCredentialId(input.credentialId), ...key }));
    },
  }),
] as const satisfies readonly Route[];

/** The key beside a recorded proof, if there is one. Throws 400 for a malformed one. */
function keyOf({ pubKeyX, pubKeyY, salt }: Values<typeof PROOF_KEY>): { readonly key?: AccountKey } {
  if (pubKeyX === undefined && pubKeyY === undefined) return {};
  const [x, y] = [checkField(pubKeyHex, pubKeyX), checkField(pubKeyHex, pubKeyY)];
  return { key: { x, y, salt: checkField(saltNumber, salt ?? '0') } };
}

/** Only a vault with a registrar's key relays, and only for a person who proved an address or a number. */
function isRelayed({ relay }: Context, record: Readonly<Record<string, unknown>>): boolean {
  const isProvable = record['channel'] === 'email' || record['channel'] === 'sms';
  return relay !== undefined && isProvable && isMissing(record, 'txHash');
}

async function relayDid({ ctx, app, input, client }: Call<Values<typeof RELAYED>>): Promise<Reply> {
  const { relay } = ctx;
  if (!relay) throw new VaultError('rpc_error');
  const { smartAccount, pubKeyX: x, pubKeyY: y, salt = 0n, attestation } = input;
  const subject = subjectOf(ctx, input);
  const proof = { assertion: assertionOf(input.proof), expiresAt: input.proofExpiresAt };
  const relaying = { ...subject, smartAccount, key: { x, y, salt }, proof, attestation };
  const { txHash, status } = await relayRegistration({ ...ctx, relay }, relaying, { ip: client, app });
  const { value, channel } = subject.identifier;
  const body = { ok: true, identifier: value, channel, txHash, status, ...(await waitingOf(ctx, subject)) };
  return json(body, { status: status === 'confirmed' ? 200 : 202 });
}

/** The extra members of an answer whose address belongs to another DID that has a passkey. */
async function waitingOf(ctx: Context, { identifier, did }: RegistrationSubject) {
  const movesAt = await readMovesAt(ctx, identifier, did);
  return movesAt === undefined ? {} : { holds: false, moves_at: movesAt };
}

/** Throws 400 for a malformed one. */
function subjectOf({ config }: Context, input: Values<typeof SUBJECT>): RegistrationSubject {
  const identifier = parseIdentifier(input.channel, input.identifier, config);
  if (!isDid(input.did, config.didMethods)) throw badRequest('Invalid did');
  const { did, invite } = input;
  return { identifier, did, credentialId: parseCredentialId(input.credentialId), invite };
}
