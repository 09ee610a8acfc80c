// Facts of an account from the vault and the chain. A fact in a form that this page does not know is not shown.

import type { Hex } from '../../client/wallet/bytes.ts';
import { UnreachableError } from '../../client/wallet/vault.ts';
import { ask } from './http.ts';

/** One key of an account. */
export interface Key {
  readonly index: number;
  readonly x: Hex;
  /** Zero of an Ethereum address, which x is then. */
  readonly y: Hex;
  readonly addedAt: string | null;
  readonly label: string | null;
  /** Null where nobody noted it. */
  readonly synced: boolean | null;
}

/** A guardian may propose a new key, after this delay. */
export interface Guardian {
  readonly address: Hex;
  readonly delaySeconds: number;
  readonly barredUntil: string | null;
}

/** A new key that waits. */
export interface Recovery {
  readonly id: number;
  readonly x: Hex;
  readonly y: Hex;
  readonly readyAt: string;
  readonly label: string | null;
}

/** An account as the chain has it. `kind` is null while it is not deployed. */
export interface AccountFacts {
  readonly kind: 1 | 2 | null;
  readonly did: Hex;
  readonly keys: readonly Key[];
  readonly guardian: Guardian | null;
  readonly recovery: Recovery | null;
}

/** Reads an account. Throws `UnreachableError`, also for nonsense. */
export async function readFacts(account: Hex): Promise<AccountFacts> {
  const { kind, did, keys, guardian, recovery } = await ask<Record<string, unknown>>('GET /api/accounts/state', {
    account,
  });
  if (kind !== 1 && kind !== 2 && kind !== null) throw nonsense('kind');
  return {
    kind,
    did: hex(did, 32),
    keys: (Array.isArray(keys) ? keys : []).map(keyOf),
    guardian: isRecord(guardian) ? guardianOf(guardian) : null,
    recovery: isRecord(recovery) ? recoveryOf(recovery) : null,
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function keyOf(given: Record<string, unknown>): Key {
  const { index, x, y, addedAt, label, synced } = given;
  if (!Number.isInteger(index)) throw nonsense('index');
  return {
    index: index as number,
    x: hex(x, 32),
    y: hex(y, 32),
    addedAt: typeof addedAt === 'string' ? time(addedAt) : null,
    label: textOf(label),
    synced: typeof synced === 'boolean' ? synced : null,
  };
}

function guardianOf(given: Record<string, unknown>): Guardian {
  const { address, delaySeconds, barredUntil } = given;
  if (typeof delaySeconds !== 'number') throw nonsense('delay');
  const until = typeof barredUntil === 'string' ? time(barredUntil) : null;
  return { address: hex(address, 20), delaySeconds, barredUntil: until };
}

function recoveryOf(given: Record<string, unknown>): Recovery {
  const { id, x, y, readyAt, label } = given;
  if (!Number.isInteger(id)) throw nonsense('id');
  return { id: id as number, x: hex(x, 32), y: hex(y, 32), readyAt: time(readyAt), label: textOf(label) };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Hex of so many bytes, in lower case. Throws `UnreachableError` for anything else. */
export function hex(value: unknown, bytes: number): Hex {
  const isHex = typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[0-9a-fA-F]*$/.test(value);
  if (!isHex) throw nonsense('hex');
  return value.toLowerCase() as Hex;
}

function time(value: unknown): string {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value))) throw nonsense('time');
  return value;
}

function nonsense(what: string): UnreachableError {
  return new UnreachableError(`the vault’s answer has no good ${what}`);
}

/** The contracts of the chain that this page needs besides those of a payment; null for those that are not there. */
export interface Contracts {
  readonly registry: Hex | null;
  readonly factory2: Hex | null;
  readonly registrar: string;
  readonly guardian: Hex | null;
}

/** Reads them. */
export async function readContracts(): Promise<Contracts> {
  const given = await ask<Record<string, unknown>>('GET /api/contracts');
  const address = (value: unknown) => (typeof value === 'string' ? hex(value, 20) : null);
  const { didRegistry, accountFactory2, registrar, guardian } = given;
  return {
    registry: address(didRegistry),
    factory2: address(accountFactory2),
    registrar: String(registrar),
    guardian: address(guardian),
  };
}
