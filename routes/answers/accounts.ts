import * as v from 'valibot';
import { Address, about, Count, Decimal, Hash, Quantity, Seconds, Time } from './common.ts';

/** Where an account is, or would be. */
export const PredictedAccount = v.object({ address: Address });

/** An account as the chain has it. */
export const AccountState = v.object({
  nonce: Quantity,
  did: about(Hash, 'The hash of its DID; zeros without one'),
  isActive: v.boolean(),
  pubKeyX: Hash,
  pubKeyY: Hash,
  kind: about(v.nullable(v.picklist([1, 2])), '2: several keys. Null without code'),
  factory: about(v.nullable(Address), 'The configured factory, if it made the account'),
  keys: about(
    v.nullable(
      v.array(
        v.object({
          index: Count,
          x: Hash,
          y: about(Hash, 'Zero for the key of an Ethereum address, which x is then'),
          addedAt: about(v.nullable(Time), 'Null for the key that the account began with'),
          label: v.nullable(v.string()),
          synced: about(v.nullable(v.boolean()), 'The passkey is on several devices; null if unknown'),
        }),
      ),
    ),
    'Only of an account of the second kind',
  ),
  guardian: v.nullable(
    v.object({
      address: Address,
      delaySeconds: Seconds,
      commitment: Hash,
      vetoes: Count,
      barredUntil: v.nullable(Time),
    }),
  ),
  recovery: about(
    v.nullable(v.object({ id: Count, x: Hash, y: Hash, readyAt: Time, label: v.nullable(v.string()) })),
    'The recovery that is pending',
  ),
});

/** A mailbox for a key was opened. */
export const JoinOpened = v.object({ id: v.string(), expiresAt: Time });

/** A mailbox, with the key that was left in it. */
export const Join = v.object({
  smartAccount: Address,
  expiresAt: Time,
  key: v.nullable(v.object({ x: Hash, y: Hash, label: Hash })),
});

/** An address's balance of a token. */
export const Balance = v.object({
  balance: about(Decimal, "In the token's smallest unit"),
  decimals: Count,
  symbol: v.string(),
  formatted: about(v.string(), 'With the decimal point'),
});
