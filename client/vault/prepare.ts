import { keccak256 } from '../keccak.ts';
import { fromBase64url, type Hex } from '../wallet/bytes.ts';
import { identifierHash, proofOf, registrationChallenge } from '../wallet/proof.ts';
import { demandHandle, demandPlace } from './arguments.ts';
import { type Call, newKey } from './call.ts';
import { prove, provenBy } from './code.ts';
import { fault, loadPart } from './error.ts';
import { newPasskey, signWith } from './passkeys.ts';
import { isAttested, type Progress, type RegistrationInput } from './progress.ts';
import type { RegistrationRun } from './registration-run.ts';

const NO_HASH: Hex = `0x${'0'.repeat(64)}`;
/** How long a handle's proof counts, in seconds. */
const PROOF_SECONDS = 300;

/**
 * Takes the steps that are missing before the vault can be asked: the code, the passkey, the account's own operation,
 * and the proof. A step whose result expires while the person takes her time is taken again.
 */
export async function prepare(run: RegistrationRun, name: string): Promise<NonNullable<Progress['request']>> {
  const { call, info, signal, step, keep, progress, askCode, invite } = run;
  for (;;) {
    // Read each time: another tab may have gone on.
    const { identifier, channel, passkey, attestation, request } = progress();
    if (request) return request;
    // Before the person is asked for anything: a service that the vault does not offer costs no code.
    const { status, contracts } = await info();
    const { didRegistry, accountFactory2, chainId, registrar } = contracts;
    if (!didRegistry) throw fault('not_offered');
    const { rpId } = status;
    const isHandle = channel === 'handle';
    if (!passkey) {
      await demandPlace(call, rpId, signal);
      if (isHandle) await demandHandle(call, identifier, signal);
    }
    const isProven = () => isHandle || isAttested(progress());
    if (askCode && !isProven()) {
      await step('code');
      const proven = await prove(run, askCode);
      // A credential is answered only where one was asked for.
      if (proven) keep(provenBy((proven as Extract<typeof proven, { readonly attestation: unknown }>).attestation));
      continue;
    }
    if (!passkey) {
      await step('passkey');
      if (progress().passkey) continue;
      const { credentialId, x, y } = await newPasskey(rpId, { name, rpName: status.brand.name, signal });
      if (!progress().passkey) keep({ passkey: { credentialId, x, y } });
      continue;
    }
    const { credentialId, x: pubKeyX, y: pubKeyY } = passkey;
    const kind = accountFactory2 ? 2 : 1;
    const account: { readonly address: Hex; readonly did?: string } =
      passkey.owner ?? (await call('GET /api/accounts/predict', { pubKeyX, pubKeyY, kind: `${kind}` }, { signal }));
    const { address, did = `did:pkh:eip155:${chainId}:${address}` } = account;
    const aliasHash = isHandle
      ? (await call('GET /api/aliases/check', { alias: identifier }, { signal })).aliasHash
      : NO_HASH;
    if ((isHandle || !status.relays) && !progress().txHash) {
      const { registerOnChain } = await loadPart(import('./operation.ts'));
      await registerOnChain(run, { ...passkey, address, kind, did, aliasHash });
    }
    await step('proof');
    if (!isProven() || progress().request) continue;
    const expiresAt = await endOf(call, attestation?.expires_at);
    const challenge = registrationChallenge(keccak256, {
      ...{ registrar, chainId, registry: didRegistry, did, aliasHash, smartAccount: address, expiresAt },
      credentialId: fromBase64url(credentialId),
      identifierHash: attestation ? identifierHash(keccak256, attestation) : NO_HASH,
    });
    const proof = proofOf(await signWith(rpId, challenge, [credentialId], { signal }));
    const { txHash } = progress();
    const body: RegistrationInput = {
      identifier: attestation?.identifier ?? identifier,
      ...{ channel, credentialId, did, smartAccount: address, pubKeyX, pubKeyY, proof, proofExpiresAt: expiresAt },
      ...{ attestation, txHash, invite },
    };
    if (!progress().request) keep({ request: { body, key: newKey() } });
  }
}

/** When the proof ends, in seconds of the vault's clock: this device's may be wrong. */
async function endOf(call: Call, attested: string | undefined): Promise<number> {
  if (attested !== undefined) return Math.floor(Date.parse(attested) / 1000);
  return (await call('GET /api/status')).time + PROOF_SECONDS;
}
