import * as v from 'valibot';
import { isoTime } from '../lib/base/clock.ts';
import { VaultError } from '../lib/base/error.ts';
import { assertionOf, parseCredentialId } from '../lib/identity/passkey.ts';
import { findAccounts, offerCommitment, requireGuardian } from '../lib/recovery/address.ts';
import { nameContact } from '../lib/recovery/contact.ts';
import { startRecovery, stopRecovery } from '../lib/recovery/start.ts';
import { readStatus } from '../lib/recovery/status.ts';
import { carryVeto } from '../lib/recovery/veto.ts';
import { Attestation, Proof } from './answers/common.ts';
import {
  Commitment,
  Contact,
  RecoverableAccounts,
  RecoveryOpened,
  RecoveryState,
  RecoveryWithdrawn,
  VetoSent,
} from './answers/recoveries.ts';
import {
  addressText,
  credentialIdText,
  judged,
  languageText,
  nonceText,
  proofExpiresAtValue,
  pubKeyHex,
} from './fields.ts';
import { optional, required } from './http/fields.ts';
import { json } from './http/response.ts';
import { get, post, type Route } from './http/route.ts';

/** More than a passkey's assertion takes, with its client data of 512 bytes. */
const SIGNATURE_BYTES_MAX = 1_536;

const labelHex = hexText('label', /^0x[0-9a-fA-F]{64}$/, '0x-hex of 32 bytes');
const signatureHex = hexText(
  'signature',
  new RegExp(`^0x(?:[0-9a-fA-F]{2}){1,${SIGNATURE_BYTES_MAX}}$`),
  `0x-hex of at most ${SIGNATURE_BYTES_MAX} bytes`,
);
const smartAccount = required(addressText('smartAccount'));

const attestation = required(judged(Attestation));
const proof = required(judged(Proof));

/** The errors of routes that an attestation opens. */
const ADDRESS_ERRORS = [
  'recoveries_not_offered',
  'attestation_invalid',
  'attestation_expired',
  'recovery_channel_refused',
  'rpc_error',
] as const;

const NO_LABEL = `0x${'0'.repeat(64)}`;

/** A lost passkey: recoveries of accounts whose owners named this vault their guardian. */
export const recoveryRoutes = [
  post('/api/recoveries/commitments', {
    summary: 'The arguments with which the owner of an account calls setGuardian',
    answers: { 200: Commitment },
    errors: ADDRESS_ERRORS,
    limit: 'writes',
    fields: { attestation, smartAccount, lang: optional(languageText) },
    async handler({ ctx, app, input, request }) {
      const preferences = {
        app,
        language: ctx.words.choose('mail', input.lang, request.headers.get('accept-language')),
      };
      return json(await offerCommitment(requireGuardian(ctx), input.smartAccount, input.attestation, preferences));
    },
  }),

  post('/api/recoveries/accounts', {
    summary: 'The accounts that an address may recover',
    answers: { 200: RecoverableAccounts },
    errors: ADDRESS_ERRORS,
    limit: 'proxy',
    fields: { attestation },
    async handler({ ctx, input }) {
      return json({ accounts: await findAccounts(requireGuardian(ctx), input.attestation) });
    },
  }),

  post('/api/recoveries', {
    summary: 'Propose a new key for an account',
    answers: { 202: RecoveryOpened },
    errors: [
      ...ADDRESS_ERRORS,
      'attestation_used',
      'proof_invalid',
      'recovery_refused',
      'recovery_barred',
      'recovery_pending',
      'key_is_owner',
      'recovery_limit_reached',
      'guardian_unfunded',
    ],
    example: { proofExpiresAt: '$PROOF_EXPIRES_AT' },
    limit: 'writes',
    fields: {
      attestation,
      smartAccount,
      credentialId: required(credentialIdText),
      pubKeyX: required(pubKeyHex),
      pubKeyY: required(pubKeyHex),
      proof,
      proofExpiresAt: optional(proofExpiresAtValue),
      label: optional(labelHex),
    },
    async handler({ ctx, app, input, client, spendProxy }) {
      spendProxy();
      const request = {
        account: input.smartAccount,
        credentialId: parseCredentialId(input.credentialId),
        x: input.pubKeyX,
        y: input.pubKeyY,
        label: input.label ?? NO_LABEL,
        proof: { assertion: assertionOf(input.proof), expiresAt: input.proofExpiresAt },
        attestation: input.attestation,
      };
      const { status, account, txHash, readyAt, failure } = await startRecovery(requireGuardian(ctx), request, {
        ip: client,
        app,
      });
      // Another request for the account came in between.
      if (status === 'cancelled') throw new VaultError('recovery_pending');
      if (status === 'failed') throw new VaultError('recovery_refused', { reason: failure ?? 'reverted' });
      const shown = status === 'queued' ? 'submitted' : status;
      const body = { ok: true, status: shown, smartAccount: account, txHash, readyAt: readyAt && isoTime(readyAt) };
      return json(body, { status: 202 });
    },
  }),

  get('/api/recoveries/status', {
    summary: 'How the recovery of an account stands',
    answers: { 200: RecoveryState },
    errors: ['recoveries_not_offered', 'rpc_error'],
    limit: 'proxy',
    fields: { smartAccount },
    async handler({ ctx, input }) {
      return json(await readStatus(requireGuardian(ctx), input.smartAccount));
    },
  }),

  post('/api/recoveries/cancellations', {
    summary: 'Withdraw the recoveries of an account by its address',
    answers: { 202: RecoveryWithdrawn },
    errors: [...ADDRESS_ERRORS, 'attestation_used', 'recovery_refused', 'not_found'],
    limit: 'writes',
    fields: { attestation, smartAccount },
    async handler({ ctx, input, spendProxy }) {
      spendProxy();
      await stopRecovery(requireGuardian(ctx), input.smartAccount, input.attestation);
      return json({ ok: true, status: 'submitted' }, { status: 202 });
    },
  }),

  post('/api/recoveries/vetoes', {
    summary: "Send an owner's veto of the pending recovery",
    answers: { 202: VetoSent },
    errors: ['recoveries_not_offered', 'not_found', 'veto_invalid', 'guardian_unfunded', 'rpc_error'],
    limit: 'writes',
    fields: { smartAccount, signature: required(signatureHex) },
    async handler({ ctx, input, spendProxy }) {
      spendProxy();
      const veto = { account: input.smartAccount, signature: input.signature };
      const { vetoed, txHash } = await carryVeto({ ...requireGuardian(ctx), relay: ctx.relay }, veto);
      return json({ ok: true, status: vetoed ? 'vetoed' : 'submitted', txHash }, { status: 202 });
    },
  }),

  post('/api/recoveries/contacts', {
    summary: 'Name a second address for mails about recoveries',
    answers: { 200: Contact },
    errors: [...ADDRESS_ERRORS, 'attestation_used', 'proof_invalid'],
    example: { nonce: '$NONCE', attestation: '$ATTESTATION' },
    limit: 'writes',
    fields: {
      smartAccount,
      pubKeyX: required(pubKeyHex),
      pubKeyY: required(pubKeyHex),
      proof,
      nonce: required(nonceText),
      attestation: optional(judged(Attestation)),
      lang: optional(languageText),
    },
    async handler({ ctx, app, input, request, spendProxy }) {
      spendProxy();
      const language = ctx.words.choose('mail', input.lang, request.headers.get('accept-language'));
      const contact = await nameContact(requireGuardian(ctx), {
        account: input.smartAccount,
        x: input.pubKeyX,
        y: input.pubKeyY,
        assertion: assertionOf(input.proof),
        nonce: input.nonce,
        attestation: input.attestation,
        preferences: { app, language },
      });
      return json({ ok: true, contact });
    },
  }),
] as const satisfies readonly Route[];

function hexText(name: string, form: RegExp, expected: string) {
  const message = `Invalid ${name}: expected ${expected}`;
  return v.pipe(v.string(message), v.regex(form, message), v.toLowerCase());
}
