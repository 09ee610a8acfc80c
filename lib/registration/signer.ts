// The registration of a passkey that signs in.
import type { AccountKind } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { factoryOf } from '../chain/account-factory.ts';
import type { Row } from '../db/database.ts';
import { coordinatesOf } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { type OwnedDid, readOpenKeys } from './open-keys.ts';
import { demandOpen, isOwnDid, keyGone, labelError } from './own-did.ts';
import type { SignIn } from './sign-in.ts';
import { selectAnySigner, selectOwned, selectSignedBy } from './sign-in-store.ts';

/** The registration that signed, and the key. */
export interface Signer {
  readonly signIn: SignIn;
  readonly signer: string;
  /** Whether the chain has confirmed it. */
  readonly isConfirmed: boolean;
}

/** A signature by a passkey. */
export interface SignedBy {
  readonly credentialId: string;
  /** The account that the passkey names, lower-case. */
  readonly account: string | undefined;
  /** The keys that it may be of, as `signerKeys` finds them. */
  readonly keys: readonly string[];
}

/** Why a signature shows no registration. */
export type SignerFault = 'none' | 'not_signed';

/** The services that a search for a signer needs. */
export type SignerContext = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'> & {
  readonly predict: PredictAddress;
};

/**
 * The registration behind a signature: that of the credential by the key that signed, however many others have claimed
 * the credential; else that of an account of the key, which the passkey names or whose address follows from the key.
 * The chain has to show that the key opens the account and that the account controls the DID. `none`: nothing is
 * registered; `not_signed`: another key signed. Throws 403 `proof_invalid`, 404 `not_found` for a DID that is only a
 * label, 502 `rpc_error`.
 */
export async function findSigner(
  ctx: SignerContext,
  { credentialId, account, keys }: SignedBy,
): Promise<Signer | SignerFault> {
  const { db, config } = ctx;
  const [row] = await db.read(selectSignedBy(credentialId, keys));
  const found = row && ownedOf(row);
  if (found && isOwnDid(config, found)) {
    const signer = String(row['key']);
    await demandOpen(ctx, found, signer);
    const { did, account, isConfirmed } = found;
    return { signIn: { did, account, credentialId, key: signer }, signer, isConfirmed };
  }
  const byAccount = await findByAccount(ctx, account, keys);
  if (byAccount) {
    const { did, account: of, isConfirmed } = byAccount.owned;
    return { signIn: { did, account: of, credentialId, key: '' }, signer: byAccount.signer, isConfirmed };
  }
  if (found) throw labelError();
  const [another] = await db.read(selectAnySigner(credentialId));
  return another ? 'not_signed' : 'none';
}

/** An account that may be of a key, and the keys that its address follows from: one that is not there yet has those. */
interface Candidate {
  readonly account: string;
  readonly firstKeys: readonly string[];
}

/** The DID of the first account that has one of the keys now. Throws as `findSigner`. */
async function findByAccount(
  ctx: SignerContext,
  named: string | undefined,
  keys: readonly string[],
): Promise<{ readonly owned: OwnedDid; readonly signer: string } | undefined> {
  const { db, config } = ctx;
  const candidates = await accountsOf(ctx, named, keys);
  const rows = await Promise.all(candidates.map(({ account }) => db.read(selectOwned(account, config.chainId))));
  const found = candidates.flatMap((one, i) => (rows[i] ?? []).map((row) => ({ ...one, owned: ownedOf(row) })));
  const own = found.filter(({ owned }) => isOwnDid(config, owned));
  for (const { owned, firstKeys } of own) {
    const shown = (await readOpenKeys(ctx, owned)) ?? firstKeys;
    const signer = keys.find((key) => shown.includes(key));
    if (signer !== undefined) return { owned, signer };
  }
  if (own.length > 0) throw keyGone();
  if (found.length > 0) throw labelError();
  return undefined;
}

async function accountsOf(
  { config, predict }: SignerContext,
  named: string | undefined,
  keys: readonly string[],
): Promise<readonly Candidate[]> {
  const kinds = ([1, 2] as const satisfies readonly AccountKind[]).filter((kind) => factoryOf(config, kind) !== null);
  const predicted = await Promise.all(
    keys.flatMap((key) =>
      kinds.map(async (kind) => {
        const of = { ...coordinatesOf(key), salt: 0n };
        return { account: (await predict(of, kind)).toLowerCase(), firstKeys: [key] };
      }),
    ),
  );
  if (named === undefined) return predicted;
  const own = predicted.find(({ account }) => account === named);
  return [own ?? { account: named, firstKeys: [] }, ...predicted.filter((one) => one !== own)];
}

function ownedOf(row: Row): OwnedDid {
  const account = String(row['account']).toLowerCase();
  return { did: String(row['did']), account, isConfirmed: row['status'] === 'confirmed' };
}
