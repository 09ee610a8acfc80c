// An address of this account that another account has proven: its holder keeps it, or lets it go.

import { fromBase64url, type Hex } from '../../client/wallet/bytes.ts';
import { askPasskey } from '../../client/wallet/passkey.ts';
import { addressLine, identifierHash, proofOf, registrationChallenge } from '../../client/wallet/proof.ts';
import { word } from '../words/words.ts';
import type { Challenge, Registration, Signed } from './home.ts';
import { ask } from './http.ts';
import { showDone } from './perform.ts';
import { ProblemError } from './problem.ts';
import { type Attestation, askAddress, prove } from './prove.ts';
import { touch } from './touch.ts';
import { loading } from './view.ts';

const NO_HASH: Hex = `0x${'0'.repeat(64)}`;

/** Claims the address again, by a code and the passkey together. A pass is from the mail that warned of the claim. */
export function keep(signed: Signed, registration: Registration, back: () => void, pass: string): void {
  const [challenge] = registration.challenges ?? [];
  const asking = { title: word('keep.title'), words: word('keep.words'), purpose: 'registration', back, pass } as const;
  const then = (attestation: Attestation) => renew(signed, registration, attestation);
  const claimed = challenge && {
    channel: challenge.channel,
    touch: (address: string) => touchFor(signed, 'vault/keep/v1', challenge, address),
  };
  prove({ ...asking, ...claimed }, then);
}

async function renew(signed: Signed, { did, txHash }: Registration, attestation: Attestation): Promise<void> {
  const { account, config, contracts, enclave } = signed;
  const { keccak256 } = enclave;
  const { credentialId, address: smartAccount, x: pubKeyX, y: pubKeyY } = account;
  if (!contracts.registry) throw new ProblemError('refused');
  const { identifier, channel, expires_at } = attestation;
  const proofExpiresAt = Math.floor(Date.parse(expires_at) / 1000);
  const challenge = registrationChallenge(keccak256, {
    ...{ registrar: contracts.registrar, chainId: config.chainId, registry: contracts.registry, did, smartAccount },
    aliasHash: NO_HASH,
    credentialId: fromBase64url(credentialId),
    identifierHash: identifierHash(keccak256, attestation),
    expiresAt: proofExpiresAt,
  });
  const proof = proofOf(await askPasskey(config.rpId, challenge, [credentialId]));
  loading(word('asking'));
  const claim = { credentialId, identifier, channel, did, txHash, smartAccount, pubKeyX, pubKeyY };
  await ask('POST /api/dids', { ...claim, proof, proofExpiresAt, attestation });
  showDone([word('keep.done'), word('keep.done_words', { address: identifier })], '');
}

/** Lets the other account have the address, by the passkey alone. */
export function release(signed: Signed, challenge: Challenge, back: () => void): void {
  const { channel } = challenge;
  const asking = { title: word('release.title'), words: word('release.words'), button: word('challenge.release') };
  askAddress({ ...asking, channel, back }, async (address) => {
    const touched = await touchFor(signed, 'vault/release/v1', challenge, address);
    await ask('POST /api/dids/release', { identifier: address, channel, ...touched });
    showDone([word('release.done'), word('release.done_words', { address })], '');
  });
}

/** The passkey signs these lines about the claimed address, with a nonce of the vault. */
async function touchFor(signed: Signed, label: string, { channel, did }: Challenge, address: string) {
  const touched = await touch(signed, [label, signed.contracts.registrar, addressLine(channel, address), did]);
  loading(word('asking'));
  return touched;
}
