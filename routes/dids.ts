import * as v from 'valibot';
import { parseCredentialId } from '../lib/credential.ts';
import { isDid } from '../lib/did.ts';
import { findDid } from '../lib/directory.ts';
import { badRequest } from '../lib/error.ts';
import { parseIdentifier } from '../lib/identifier.ts';
import { recordRegistration } from '../lib/registration.ts';
import { assertionOf } from '../lib/webauthn.ts';
import { json } from './answer.ts';
import {
  addressText,
  blockNumberValue,
  channelName,
  credentialIdText,
  didText,
  identifierText,
  optional,
  required,
  txHashText,
} from './fields.ts';
import { get, post, type Row } from './route.ts';
import { withHandle } from './sessions.ts';

/** DIDs: registrations recorded, and looked up by passkey. */
export const didRoutes: readonly Row[] = [
  post('/api/dids', {
    fields: {
      credentialId: required(credentialIdText),
      identifier: required(identifierText),
      channel: required(channelName),
      did: required(didText),
      txHash: required(txHashText),
      blockNumber: optional(blockNumberValue),
      smartAccount: optional(addressText('smartAccount')),
      proof: optional(v.unknown()),
      attestation: optional(v.unknown()),
    },
    prepare: withHandle,
    idempotency: { scope: ({ channel, identifier }) => parseIdentifier(channel, identifier).key },
    async handler({ vault, input, client }) {
      const identifier = parseIdentifier(input.channel, input.identifier);
      if (!isDid(input.did, vault.config.didMethods)) throw badRequest('Invalid did');
      const { txHash, blockNumber, smartAccount, attestation } = input;
      const assertion = input.proof === undefined ? undefined : assertionOf(input.proof);
      const recording = {
        identifier,
        did: input.did,
        credentialId: parseCredentialId(input.credentialId),
        txHash,
        ...(blockNumber === undefined ? {} : { blockNumber }),
        ...(smartAccount === undefined ? {} : { smartAccount }),
        ...(assertion === undefined ? {} : { proof: JSON.stringify(assertion) }),
        attestation,
      };
      await recordRegistration(vault, recording, client);
      return json({ ok: true, identifier: identifier.value, channel: identifier.channel, txHash });
    },
  }),

  get('/api/dids/lookup', {
    limit: 'reads',
    fields: { credentialId: required(credentialIdText) },
    async handler({ vault, input }) {
      return json(await findDid(vault, parseCredentialId(input.credentialId)));
    },
  }),
];
