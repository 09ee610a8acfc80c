import { sha256 } from '@noble/hashes/sha2.js';
import { toHex } from '../../lib/base/bytes.ts';
import { timeInName } from '../storage/durable.ts';

/** The facts in the name of a backup in a folder or bucket. */
export interface BackupName {
  readonly name: string;
  /** The vault that it belongs to: `vaultMark`. */
  readonly vault: string;
  /** Counts the backups of a vault in this place: the clock may have been set back. */
  readonly number: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly registrations: number;
}

/** How many backups stay: the newest, and the newest of each of the last days that have one. */
export interface Retention {
  readonly keep: number;
  readonly keepDays: number;
}

/** Eight hex digits for a vault, from the key of its backups, so that several vaults can share a place. */
export function vaultMark(key: Uint8Array): string {
  return toHex(sha256(key)).slice(0, 8);
}

/** The name of a backup: `vault-1a2b3c4d-000017-2026-01-31T120000.000Z-4711.backup`. */
export function writeName({ vault, number, time, registrations }: Omit<BackupName, 'name'>): string {
  return `vault-${vault}-${String(number).padStart(6, '0')}-${timeInName(time)}-${registrations}.backup`;
}

/** Reads a name; undefined for any other name. */
export function readName(name: string): BackupName | undefined {
  const [, vault = '', number, day, hour, minute, second, registrations] = NAME.exec(name) ?? [];
  const time = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) || Number(number) > NUMBER_MAX
    ? undefined
    : { name, vault, number: Number(number), time, registrations: Number(registrations) };
}

/** The names of backups among others, the newest first. */
export function readNames(names: Iterable<string>): BackupName[] {
  const found = [...names].flatMap((name) => readName(name) ?? []);
  return found.sort((a, b) => b.number - a.number || b.time - a.time);
}

/** The mark of the vault and the number of a draft that a process left when it was killed. */
export function isDraft(name: string, vault: string): boolean {
  return name.startsWith(`vault-${vault}-`) && DRAFT.test(name);
}

/**
 * The backups of one vault, newest first, that a retention removes. The newest of those with the most registrations
 * always stays: a database that was emptied must not push out what it had.
 */
export function chooseRemoved(backups: readonly BackupName[], { keep, keepDays }: Retention): BackupName[] {
  const most = Math.max(...backups.map(({ registrations }) => registrations));
  const fullest = backups.find(({ registrations }) => registrations === most);
  const days = new Set<string>();
  return backups.filter((backup, i) => {
    const day = timeInName(backup.time).slice(0, 10);
    const isFirstOfDay = !days.has(day) && days.size < keepDays;
    if (isFirstOfDay) days.add(day);
    return i >= keep && !isFirstOfDay && backup !== fullest;
  });
}

/** A backup each second reaches it in 30 years; a number that somebody made up must leave room for the next ones. */
const NUMBER_MAX = 1e9;
const NAME = /^vault-([0-9a-f]{8})-(\d{6,10})-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z-(\d{1,15})\.backup$/;
const DRAFT = /\.draft\.\d+\.[0-9a-f-]{36}(?:-journal)?$/;
