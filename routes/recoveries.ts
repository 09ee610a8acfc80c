import * as v from 'valibot';
import { isoTime } from '../lib/base/clock.ts';
import { VaultError } from '../lib/base/error.ts';
import { assertionOf, parseCredentialId } from '../lib/identity/passkey.ts';
import { findAccounts, offerCommitment, requireGuardian } from '../lib/recovery/address.ts';
import { nameContact } from '../lib/recovery/contact.ts';
import { startRecovery, stopRecovery } from '../lib/recovery/start.ts';
import { readStatus } from '../lib/recovery/status.ts';
import { carryVeto } from '../lib/recovery/veto.ts';
import { addressText, credentialIdText, proofExpiresAtValue, pubKeyHex } from './fields.ts';
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

const NO_LABEL = `0x${'0'.repeat(64)}`;

/** A lost passkey: recoveries of accounts whose owners named this vault their guardian. */
export const recoveryRoutes: readonly Route[] = [
  post('/api/recoveries/commitments', {
    limit: 'writes',
    fields: { attestation: required(v.unknown()), smartAccount },
    async handler({ ctx, input }) {
      return json(await offerCommitment(requireGuardian(ctx), input.smartAccount, input.attestation));
    },
  }),

  post('/api/recoveries/accounts', {
    limit: 'proxy',
    fields: { attestation: required(v.unknown()) },
    async handler({ ctx, input }) {
      return json({ accounts: await findAccounts(requireGuardian(ctx), input.attestation) });
    },
  }),

  post('/api/recoveries', {
    limit: 'writes',
    fields: {
      attestation: required(v.unknown()),
      smartAccount,
      credentialId: required(credentialIdText),
      pubKeyX: required(pubKeyHex),
      pubKeyY: required(pubKeyHex),
      proof: required(v.unknown()),
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
    limit: 'proxy',
    fields: { smartAccount },
    async handler({ ctx, input }) {
      return json(await readStatus(requireGuardian(ctx), input.smartAccount));
    },
  }),

  post('/api/recoveries/cancellations', {
    limit: 'writes',
    fields: { attestation: required(v.unknown()), smartAccount },
    async handler({ ctx, input, spendProxy }) {
      spendProxy();
      await stopRecovery(requireGuardian(ctx), input.smartAccount, input.attestation);
      return json({ ok: true, status: 'submitted' }, { status: 202 });
    },
  }),

  post('/api/recoveries/vetoes', {
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
    limit: 'writes',
    fields: {
      smartAccount,
      pubKeyX: required(pubKeyHex),
      pubKeyY: required(pubKeyHex),
      proof: required(v.unknown()),
      proofExpiresAt: optional(proofExpiresAtValue),
      attestation: optional(v.unknown()),
    },
    async handler({ ctx, input, spendProxy }) {
      spendProxy();
      const contact = await nameContact(requireGuardian(ctx), {
        account: input.smartAccount,
        x: input.pubKeyX,
        y: input.pubKeyY,
        proof: { assertion: assertionOf(input.proof), expiresAt: input.proofExpiresAt },
        attestation: input.attestation,
      });
      return json({ ok: true, contact });
    },
  }),
];

function hexText(name: string, form: RegExp, expected: string) {
  const message = `Invalid ${name}: expected ${expected}`;
  return v.pipe(v.string(message), v.regex(form, message), v.toLowerCase());
}
