import { keccak256 } from '../keccak.ts';
import { fromBase64url, type Hex } from '../wallet/bytes.ts';
import type { NewPasskey } from '../wallet/passkey.ts';
import { identifierHash, proofOf, registrationChallenge } from '../wallet/proof.ts';
import { type Call, pause } from './call.ts';
import { isSpent, type Proving, prove } from './code.ts';
import { fault, VaultClientError } from './error.ts';
import type { Known } from './known.ts';
import type { Registering } from './operation.ts';
import { newPasskey, refusedPasskey, signWith } from './passkeys.ts';
import type { Memory, Progress, RegistrationInput } from './progress.ts';
import { type RegisterStep, type Registration, submit } from './submit.ts';
import type { Channel } from './wire.ts';

/** What is registered. A handle takes no code. */
export type RegisterSubject =
  | (Proving & { readonly email: string })
  | (Proving & { readonly phone: string })
  | { readonly handle: string; readonly signal?: AbortSignal | undefined };

/** How a registration goes. */
export type RegisterOptions = RegisterSubject & {
  /** Called before each step, which waits for it: a page can ask for the click that a browser wants. */
  readonly onStep?: (step: RegisterStep) => void | Promise<void>;
  /** The name under which a passkey manager shows the passkey; else the identifier. */
  readonly name?: string;
};

/** What a registration works with. */
export interface Registrar {
  readonly call: Call;
  readonly memory: Memory;
  readonly known: Known;
  /** Where the vault is. */
  readonly url: string;
}

/**
 * Registers a person: a code, a passkey, the account of its key, and the DID of that account on-chain. Goes on where an
 * earlier call with the same identifier was left.
 */
export async function register(registrar: Registrar, options: RegisterOptions): Promise<Registration> {
  const { call, memory } = registrar;
  const { signal } = options;
  const subject = subjectOf(options);
  const step = async (name: RegisterStep) => {
    await options.onStep?.(name);
    signal?.throwIfAborted();
  };
  const before = memory.read();
  const isSame = before?.identifier === subject.identifier && before.channel === subject.channel;
  let progress: Progress = isSame ? before : subject;
  const keep = (change: Partial<Progress>) => {
    progress = { ...progress, ...change };
    memory.write(progress);
  };
  // Asked for while the person reads the code.
  const known = registrar.known();
  known.catch(() => undefined);
  for (let attempts = 1; ; attempts++) {
    if (!progress.request) {
      if (!('handle' in options) && !progress.attestation) {
        await step('code');
        keep({ attestation: await prove(call, progress, options, keep), sent: undefined });
      }
      await prepare({ ...registrar, signal, name: options.name, step, keep, progress: () => progress });
    }
    const { request } = progress;
    if (!request) throw fault('unexpected_answer');
    await step('record');
    try {
      return await submit(registrar, request, { signal, step });
    } catch (error) {
      // The vault knows nothing of this request: another code, or another proof, serves the same passkey.
      const isLate = error instanceof VaultClientError && error.reason === 'expired';
      const mayGoOn = attempts === 1 && (isSpent(error) || isLate);
      if (!mayGoOn && isRefusal(error)) memory.forget();
      if (!mayGoOn) throw error;
      keep({ request: undefined, ...(isLate ? {} : { attestation: undefined }) });
    }
  }
}

/** Whether repeating the request would be refused again. */
function isRefusal(error: unknown): boolean {
  return error instanceof VaultClientError && error.status >= 400 && error.status < 500 && error.status !== 429;
}

function subjectOf(options: RegisterOptions): { identifier: string; channel: Channel } {
  if ('email' in options) return { identifier: options.email.trim(), channel: 'email' };
  if ('phone' in options) return { identifier: options.phone.trim(), channel: 'sms' };
  return { identifier: options.handle.trim(), channel: 'handle' };
}

interface Preparing extends Registrar {
  readonly signal: AbortSignal | undefined;
  readonly name: string | undefined;
  readonly step: (name: RegisterStep) => Promise<void>;
  readonly keep: (change: Partial<Progress>) => void;
  readonly progress: () => Progress;
}

/** Makes the passkey and its proof: all that the request needs. */
async function prepare(preparing: Preparing): Promise<void> {
  const { call, known, signal, step, keep, progress } = preparing;
  const { status, contracts } = await known();
  const { identifier, channel, attestation } = progress();
  const { didRegistry, accountFactory2, chainId, registrar } = contracts;
  if (!didRegistry) throw fault('not_offered');
  let { passkey } = progress();
  if (!passkey) {
    await step('passkey');
    const { credentialId, x, y }: NewPasskey = await newPasskey(status.rpId, {
      name: preparing.name ?? identifier,
      rpName: status.brand.name,
    });
    passkey = { credentialId, x, y };
    keep({ passkey });
  }
  const { credentialId, x: pubKeyX, y: pubKeyY } = passkey;
  const kind = accountFactory2 ? '2' : '1';
  const { address } = await call('GET /api/accounts/predict', { pubKeyX, pubKeyY, kind }, { signal });
  const did = `did:pkh:eip155:${chainId}:${address}`;
  const aliasHash = channel === 'handle' ? await aliasOf(call, identifier) : NO_HASH;
  const subject = { identifier: attestation?.identifier ?? identifier, channel };
  let { txHash } = progress();
  if (!status.relays || channel === 'handle') {
    if (channel === 'handle') await call('POST /api/sessions', { ...subject, did }, { signal });
    txHash ??= await onChain(preparing, { ...passkey, address, kind: kind === '2' ? 2 : 1, did, aliasHash });
    keep({ txHash });
  }
  await step('proof');
  const proofExpiresAt = endOf(attestation?.expires_at);
  const challenge = registrationChallenge(keccak256, {
    ...{ registrar, chainId, registry: didRegistry, did, aliasHash, smartAccount: address },
    credentialId: fromBase64url(credentialId),
    identifierHash: attestation ? identifierHash(keccak256, attestation) : NO_HASH,
    expiresAt: proofExpiresAt,
  });
  const proof = proofOf(await signWith(status.rpId, challenge, [credentialId]));
  const body: RegistrationInput = {
    ...{ ...subject, credentialId, did, smartAccount: address, pubKeyX, pubKeyY, proof, proofExpiresAt },
    ...(attestation ? { attestation } : {}),
    ...(txHash === undefined ? {} : { txHash }),
  };
  keep({ request: { body, key: crypto.randomUUID() } });
}

const NO_HASH: Hex = `0x${'0'.repeat(64)}`;

/** The end of the attestation, which the vault's own clock wrote: this device's may be wrong. */
function endOf(attested: string | undefined): number {
  return Math.floor((attested === undefined ? Date.now() + 300_000 : Date.parse(attested)) / 1000);
}

async function aliasOf(call: Call, alias: string): Promise<Hex> {
  return (await call('GET /api/aliases/check', { alias })).aliasHash;
}

/** The person's account registers the DID itself, by a user operation. Its code is loaded here. */
async function onChain({ call, url, keep, progress, step, signal }: Preparing, account: Registering): Promise<string> {
  await step('operation');
  const { registerOnChain } = await import('./operation.ts');
  const work = { call, pause, url, signal, sent: progress().operation };
  const onSigned = (operation: Progress['operation']) => keep({ operation });
  const settled = await registerOnChain({ ...work, onSigned }, account).catch(refusedPasskey);
  if ('txHash' in settled) return settled.txHash;
  // A nonce that is spent for nothing serves no second try.
  if (settled.fault === 'registration_failed') keep({ operation: undefined });
  throw fault(settled.fault, settled);
}
