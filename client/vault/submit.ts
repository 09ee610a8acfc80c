import type { Hex } from '../wallet/bytes.ts';
import { type Call, pause } from './call.ts';
import { fault, VaultClientError } from './error.ts';
import type { Memory, Progress } from './progress.ts';
import type { Channel, DidRecord } from './wire.ts';

/** The steps of a registration, in order; `operation` only where the account registers its DID itself. */
export type RegisterStep = 'code' | 'passkey' | 'operation' | 'proof' | 'record' | 'submitted' | 'confirmed';

/** A registration that is on its way, or done. */
export interface Registration {
  /** In its normal form. */
  readonly identifier: string;
  readonly channel: Channel;
  readonly did: string;
  readonly smartAccount: Hex;
  readonly credentialId: string;
  readonly txHash: Hex;
  readonly status: 'submitted' | 'confirmed';
  /** The look-up once the chain has it; rejects with `registration_failed` where the chain refuses. */
  readonly confirmed: Promise<DidRecord>;
}

/** How a request is followed. */
export interface Submitting {
  readonly signal: AbortSignal | undefined;
  readonly step: (name: RegisterStep) => Promise<void>;
}

/** Sends the request. Resolves as soon as a transaction carries it. */
export async function submit(
  { call, memory }: { readonly call: Call; readonly memory: Memory },
  { body, key }: NonNullable<Progress['request']>,
  { signal, step }: Submitting,
): Promise<Registration> {
  const { credentialId, did, smartAccount, identifier, channel, pubKeyX = '', pubKeyY = '' } = body;
  const look = () => call('GET /api/dids/lookup', { credentialId, pubKeyX, pubKeyY }, { signal });
  const over = new AbortController();
  const ends = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
  const posted = call('POST /api/dids', body, { idempotencyKey: key, signal });
  /** The vault answers a relayed request once it is in a block; a look-up shows the transaction before. */
  const seen = async () => {
    for (;;) {
      await pause(LOOK_MS, ends);
      const row = await look().catch(() => undefined);
      if (row?.txHash && row.did === did) return { txHash: row.txHash, status: 'submitted' as const };
    }
  };
  const sighting = seen();
  const answered = posted.then(({ txHash, status = 'submitted' }) => (txHash === null ? sighting : { txHash, status }));
  const { txHash, status } = await Promise.race([answered, sighting]).finally(() => over.abort());
  await step('submitted');
  const confirmed = posted.then(async () => {
    const row = await awaitConfirmed(look, did, signal).catch((error) => {
      if (error instanceof VaultClientError && error.error === 'registration_failed') memory.forget();
      throw error;
    });
    memory.forget();
    await step('confirmed');
    return row;
  });
  // Who does not wait for it is not disturbed by its failure.
  confirmed.catch(() => undefined);
  const subject = { identifier, channel, did, smartAccount: smartAccount as Hex, credentialId };
  return { ...subject, txHash, status, confirmed };
}

/** The pause between two looks: short at first, since blocks of a second layer come every two seconds. */
const LOOK_MS = 250;
const LOOK_MS_MAX = 3_000;

async function awaitConfirmed(
  look: () => Promise<DidRecord>,
  did: string,
  signal: AbortSignal | undefined,
): Promise<DidRecord> {
  for (let ms = LOOK_MS; ; ms = Math.min(ms * 1.2, LOOK_MS_MAX)) {
    const row = await look().catch((error: VaultClientError) => {
      if (error.error === 'not_found') throw fault('registration_failed', { cause: error });
      if (error.error !== 'unreachable') throw error;
      return undefined;
    });
    if (row?.did === did && row.status === 'confirmed') return row;
    await pause(ms, signal);
  }
}
