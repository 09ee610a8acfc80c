/** The answers of an account of the second kind about itself: its keys, its guardian and a pending recovery. */
import * as Address from 'ox/Address';
import { fromHex } from '../base/bytes.ts';
import { isoTime } from '../base/clock.ts';
import { findAnswer, wordsOf, ZERO_WORD } from './contract-call.ts';
import { GET_GUARDIAN, GET_RECOVERY } from './guarded-account.ts';
import { GET_KEYS, KEYS_GAS, numberWithin, type OwnerKey, parseKeys } from './owner-keys.ts';
import type { ChainReader } from './rpc.ts';

/** A key as it is shown: 32 bytes each in 0x-hex; y is zero for the key of an Ethereum address. */
interface ShownKey {
  readonly index: number;
  readonly x: string;
  readonly y: string;
  /** Null if it came with the account. */
  readonly addedAt: string | null;
  readonly label: string | null;
  /** Whether the passkey is on several devices, as its owner noted; null if unknown. */
  readonly synced: boolean | null;
}

interface ShownGuardian {
  readonly address: Address.Address;
  readonly delaySeconds: number;
  readonly commitment: string;
  readonly vetoes: number;
  readonly barredUntil: string | null;
}

interface ShownRecovery {
  readonly id: number;
  readonly x: string;
  readonly y: string;
  readonly readyAt: string;
  readonly label: string | null;
}

/** Fields are null where the account has none, or answers in an unknown form. */
export interface AccountSelfReport {
  readonly keys: readonly ShownKey[] | null;
  readonly guardian: ShownGuardian | null;
  readonly recovery: ShownRecovery | null;
}

/** Asks the account itself. Throws 502 `rpc_error` when the node cannot be asked. */
export async function readAccountSelfReport({ config, rpc }: ChainReader, account: string): Promise<AccountSelfReport> {
  const ask = (data: string) => findAnswer(rpc, config.chainId, { to: account, data, gas: KEYS_GAS });
  const [keys, guardian, recovery] = await Promise.all([ask(GET_KEYS), ask(GET_GUARDIAN), ask(GET_RECOVERY)]);
  return {
    keys: parseKeys(keys)?.map(shown) ?? null,
    guardian: guardianIn(wordsOf(guardian, 5)),
    recovery: recoveryIn(wordsOf(recovery, 5)),
  };
}

function shown({ label, addedAt, ...key }: OwnerKey): ShownKey {
  const note = label.slice(-2);
  const synced = note === '02' ? true : note === '01' ? false : null;
  return { ...key, addedAt: timeText(addedAt), label: labelText(label), synced };
}

function guardianIn(words: readonly string[] | undefined): ShownGuardian | null {
  const [guardian = ZERO_WORD, delay, commitment, vetoes, barred] = words ?? [];
  const [delaySeconds, count, until] = [numberWithin(delay, 4), numberWithin(vetoes, 1), numberWithin(barred, 5)];
  if (guardian === ZERO_WORD || !guardian.startsWith(ADDRESS_PADDING)) return null;
  if (delaySeconds === undefined || count === undefined || until === undefined) return null;
  return {
    address: Address.checksum(`0x${guardian.slice(24)}`),
    delaySeconds,
    commitment: `0x${commitment}`,
    vetoes: count,
    barredUntil: timeText(until),
  };
}

function recoveryIn(words: readonly string[] | undefined): ShownRecovery | null {
  const [number, x, y, ready, label = ''] = words ?? [];
  const [id, readyAt] = [numberWithin(number, 4), numberWithin(ready, 5)];
  if (!id || readyAt === undefined) return null;
  return { id, x: `0x${x}`, y: `0x${y}`, readyAt: isoTime(readyAt * 1000), label: labelText(`0x${label}`) };
}

function timeText(seconds: number): string | null {
  return seconds === 0 ? null : isoTime(seconds * 1000);
}

/** A label's text: UTF-8 in the first 31 bytes up to a NUL, with nothing that a screen does not show. */
function labelText(label: string): string | null {
  const bytes = (fromHex(label.slice(2)) ?? new Uint8Array()).subarray(0, -1);
  const end = bytes.indexOf(0);
  const text = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
  return text === '' ? null : text.replace(/\p{C}/gu, '\ufffd');
}

const ADDRESS_PADDING = '0'.repeat(24);
