import type { Hex } from '../wallet/bytes.ts';
import { either, pause } from './call.ts';
import { fault, isPassing, VaultClientError } from './error.ts';
import type { Progress } from './progress.ts';
import type { RegistrationRun } from './registration-run.ts';
import type { Channel, DidRecord } from './wire.ts';

/** A registration that is under way or done. */
export interface Registration {
  /** In its normal form. */
  readonly identifier: string;
  readonly channel: Channel;
  readonly did: string;
  readonly smartAccount: Hex;
  readonly credentialId: string;
  /** The passkey's key. */
  readonly pubKeyX: string;
  readonly pubKeyY: string;
  /** A vault that relays may replace it by one with a higher fee: the look-up has the last. */
  readonly txHash: Hex;
  readonly status: 'submitted' | 'confirmed';
  /** When the address moves to it, at the earliest: until then it is another account's. */
  readonly movesAt?: string | undefined;
  /**
   * The look-up once the chain has it. Rejects with `registration_failed` where the chain refuses, and with
   * `not_confirmed_yet` after ten minutes.
   */
  readonly confirmed: Promise<DidRecord>;
}

/** Sends the request. Resolves as soon as a transaction carries it. */
export async function submit(
  { call, memory, signal, step, progress }: RegistrationRun,
  { body, key }: NonNullable<Progress['request']>,
): Promise<Registration> {
  const { credentialId, did, smartAccount, identifier, channel, pubKeyX, pubKeyY } = body;
  const over = new AbortController();
  const ends = either(over.signal, signal);
  const look = () => call('GET /api/dids/lookup', { credentialId, pubKeyX, pubKeyY }, { signal });
  const found = async () => {
    // The account of another address was there before: its look-up says nothing of this one.
    if (progress().passkey?.owner) return undefined;
    const row = await look().catch(() => undefined);
    return row?.did === did && row.txHash ? (row as DidRecord & { readonly txHash: Hex }) : undefined;
  };
  /** The vault answers a relayed request once it is in a block; a look-up shows the transaction before. */
  const seen = async () => {
    for (const ms of waits()) {
      await pause(ms, ends);
      const row = await found();
      if (row) return row;
    }
    throw fault('not_confirmed_yet');
  };
  const sighting = seen();
  sighting.catch(() => undefined);
  const answered = call('POST /api/dids', body, { idempotencyKey: key, signal }).catch(async (error: unknown) => {
    // An earlier request, whose answer was lost, may have done it.
    const row = await found();
    if (row) return row;
    throw error;
  });
  // Once it was seen the chain decides, not the answer.
  const {
    txHash,
    status = 'submitted',
    moves_at: movesAt,
  } = await Promise.race([answered, sighting]).finally(() => over.abort());
  await step('submitted');
  const forget = () => {
    // A later registration of the same address is another one's.
    if (progress().request?.key === key) memory.forget(progress());
  };
  const confirmed = awaitConfirmed(look, did, signal).then(
    async (row) => {
      forget();
      await step('confirmed');
      return row;
    },
    (error) => {
      if (error instanceof VaultClientError && error.error === 'registration_failed') forget();
      throw error;
    },
  );
  // Its failure must not disturb a caller that does not wait for it.
  confirmed.catch(() => undefined);
  const account = smartAccount as Hex;
  const subject = { identifier, channel, did, smartAccount: account, credentialId, pubKeyX, pubKeyY };
  return { ...subject, txHash, status, movesAt, confirmed };
}

/** Looks in a row that find nothing, after which the chain has refused. */
const MISSING_MAX = 3;

async function awaitConfirmed(
  look: () => Promise<DidRecord>,
  did: string,
  signal: AbortSignal | undefined,
): Promise<DidRecord> {
  let missing = 0;
  for (const ms of waits()) {
    let waitMs = ms;
    try {
      const row = await look();
      if (row.did === did && row.status === 'confirmed') return row;
      missing = 0;
    } catch (error) {
      const { error: word, retryAfter = 0 } = error as VaultClientError;
      if (word === 'not_found' && ++missing === MISSING_MAX) throw fault('registration_failed', { cause: error });
      if (word !== 'not_found' && !isPassing(error)) throw error;
      waitMs = Math.max(ms, retryAfter * 1000);
    }
    await pause(waitMs, signal);
  }
  throw fault('not_confirmed_yet');
}

const ENDS_MS = 600_000;

/** The pauses between looks: short at first, since blocks of a second layer come every two seconds. */
function* waits(): Generator<number, void, undefined> {
  const end = Date.now() + ENDS_MS;
  for (let ms = 250; Date.now() < end; ms = Math.min(ms * 1.4, 3_000)) yield ms;
}
