// A passkey's account, and its state on the chain.
import type { Hex } from './bytes.ts';
import type { PublicKey } from './recover.ts';

/** Accounts of kind 1 have one key for good; those of kind 2 have several, which owners add and remove. */
export type AccountKind = 1 | 2;

/**
 * An account as a device remembers it. `x` and `y` are the P-256 key of the passkey; unknown in old records of deployed
 * accounts of kind 1.
 */
export interface Account {
  readonly credentialId: string;
  readonly address: Hex;
  readonly kind: AccountKind;
  readonly x: Hex | undefined;
  readonly y: Hex | undefined;
  /** The name shown to the person. */
  readonly name: string;
}

/** A key that owns an account; an Ethereum address has y = 0. */
export interface OwnerKey extends PublicKey {
  readonly index: number;
}

/** An account on the chain. One that is not deployed has no keys yet. */
export interface AccountState {
  readonly isDeployed: boolean;
  /** A factory of the vault made it. Any contract can say that a key is its own. */
  readonly isOwn: boolean;
  readonly kind: AccountKind;
  readonly keys: readonly OwnerKey[];
}

/** The factories of both kinds, null where the vault has none. */
export interface Factories {
  readonly factory: Hex | null;
  readonly factory2: Hex | null;
}

/** The kinds of accounts that the vault's chain has factories for, the newest first. */
export function kindsOf({ factory2 }: Pick<Factories, 'factory2'>): readonly AccountKind[] {
  return factory2 ? [2, 1] : [1];
}

/** The factory that creates accounts of this kind; undefined if the vault names none. */
export function factoryOf({ factory, factory2 }: Factories, kind: AccountKind): Hex | undefined {
  return (kind === 2 ? factory2 : factory) ?? undefined;
}

/** A key as an old record may lack it. */
type KnownKey = Pick<Account, 'x' | 'y'>;

/** Which of the account's keys this is; undefined for any other key. */
export function indexOf({ keys }: Pick<AccountState, 'keys'>, key: KnownKey): number | undefined {
  return keys.find((one) => isSame(one, key))?.index;
}

/** Whether two keys are the same. */
export function isSame(one: PublicKey, other: KnownKey): boolean {
  return BigInt(one.x) === BigInt(other.x ?? '0x0') && BigInt(one.y) === BigInt(other.y ?? '0x0');
}

/** Names an account that was not made here: `Account 0x5290…9EE7`. */
export function nameOf(address: Hex): string {
  return `Account ${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** The passkey has no account that it can act for. `account` is the one it was made for, if it names one. */
export class NoAccountError extends Error {
  override readonly name = 'NoAccountError';
  readonly account: Hex | undefined;

  constructor(account?: Hex) {
    super('no account');
    this.account = account;
  }
}
