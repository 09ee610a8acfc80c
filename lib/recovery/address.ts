import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { readGuardedAccount } from '../chain/guarded-account.ts';
import { type Identifier, parseIdentifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { accountsOfIdentifier, addressesOfAccount } from '../registration/accounts.ts';
import { openAttestation, type SpentAttestation } from '../verification/attestation.ts';
import { dropUnused, type MailPreferences, noteAddress, selectAccountsOf, selectAddress } from './address-store.ts';
import type { GuardianContext, RecoveryContext } from './context.ts';

/** The shortest delay that an account lets its owners set. */
const DELAY_MIN_SECONDS = 72 * 3600;
/** When it is first asked whether the commitment is on-chain. */
const FIRST_CHECK_MS = 10 * MINUTE_MS;
const ACCOUNTS_MAX = 10;

/** An address that the caller has just proved. */
export interface ProvenAddress {
  readonly identifier: Identifier;
  /** Its attestation, to be used up. */
  readonly authorization: SpentAttestation;
}

/** The parts, if this vault is a guardian. Throws 503 `recoveries_not_offered`. */
export function requireGuardian<Ctx extends RecoveryContext>(ctx: Ctx): Ctx & GuardianContext {
  const { guardian } = ctx;
  if (!guardian) throw new VaultError('recoveries_not_offered');
  return { ...ctx, guardian };
}

/**
 * The email address that an attestation is of, by a code for recovery: no other opens anything here. Throws 403
 * `attestation_invalid`, `attestation_expired`, and `recovery_channel_refused` for a number: a SIM card is moved too
 * easily.
 */
export function openAddress({ config, keys, clock }: AddressContext, attestation: unknown): ProvenAddress {
  const opened = openAttestation(keys.attestation, attestation, 'recovery');
  if (!opened || opened.registrar !== config.registrarDid)
    throw new VaultError('attestation_invalid', { hint: ASK_FOR_RECOVERY });
  if (opened.channel !== 'email') throw new VaultError('recovery_channel_refused');
  const identifier = parseIdentifier('email', opened.identifier, config);
  const expiresAt = Date.parse(opened.expires_at);
  if (clock.now() >= expiresAt) throw new VaultError('attestation_expired');
  return { identifier, authorization: { signature: opened.signature, expiresAt } };
}

const ASK_FOR_RECOVERY =
  'Ask for the code with "purpose": "recovery": the attestation of any other opens nothing here.';

/** The services that opening an attestation needs. */
export type AddressContext = GuardianContext & Pick<Platform, 'keys'>;

/** The values that an owner needs to name this vault the guardian of an account. */
export interface OfferedCommitment {
  /** The guardian's address, lower-case. */
  readonly guardian: string;
  readonly delaySecondsMin: number;
  readonly commitment: `0x${string}`;
}

/**
 * Makes the commitment of an account to a proven address, and notes the address for notices of recoveries that another
 * copy of the key proposes. Reveals nothing about the account. Throws as `openAddress`.
 */
export async function offerCommitment(
  ctx: AddressContext,
  account: string,
  attestation: unknown,
  preferences: MailPreferences,
): Promise<OfferedCommitment> {
  const { config, clock, db, guardian } = ctx;
  const { key: identifier } = openAddress(ctx, attestation).identifier;
  const commitment = guardian.commit(account, identifier);
  const address = { chainId: config.chainId, account, commitment, identifier };
  const now = clock.now();
  await db.write(noteAddress(address, preferences, now, now + FIRST_CHECK_MS), dropUnused(identifier));
  return { guardian: await guardian.relay.address(), delaySecondsMin: DELAY_MIN_SECONDS, commitment };
}

/**
 * The accounts that a proven address may recover, newest first: those that it is registered for, or was committed to
 * here. Throws as `openAddress`, and 502 `rpc_error`.
 */
export async function findAccounts(ctx: AddressContext, attestation: unknown): Promise<readonly string[]> {
  const { config, db, guardian } = ctx;
  const { key: identifier } = openAddress(ctx, attestation).identifier;
  const [registered, committed, address] = await Promise.all([
    accountsOfIdentifier(ctx, identifier),
    db.read(selectAccountsOf(config.chainId, identifier)),
    guardian.relay.address(),
  ]);
  const accounts = [...new Set([...committed.map((row) => String(row['account'])), ...registered])].slice(
    0,
    2 * ACCOUNTS_MAX,
  );
  const guarded = await Promise.all(accounts.map((account) => readGuardedAccount(ctx, account)));
  const isRecoverable = (account: string, i: number) =>
    guarded[i]?.guardian === address && guarded[i].commitment === guardian.commit(account, identifier);
  return accounts.filter(isRecoverable).slice(0, ACCOUNTS_MAX);
}

/** Whether an account's commitment to the address of this key was noted here. */
export async function isCommitted({ config, db }: Pick<Platform, 'config' | 'db'>, key: string): Promise<boolean> {
  return (await db.read(selectAccountsOf(config.chainId, key))).length > 0;
}

/** The address that a commitment names: as it was noted when the commitment was made, else by a registration. */
export async function findAddress(ctx: GuardianContext, account: string, commitment: string): Promise<string | null> {
  const { config, db, guardian } = ctx;
  const [row] = await db.read(selectAddress({ chainId: config.chainId, account, commitment }));
  const noted = String(row?.['identifier'] ?? '');
  if (noted !== '') return noted;
  const registered = await addressesOfAccount(ctx, account);
  return registered.find((identifier) => guardian.commit(account, identifier) === commitment) ?? null;
}
