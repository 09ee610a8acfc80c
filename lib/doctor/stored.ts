import { parseJson } from '../base/json.ts';
import { selectTimes } from '../db/clocks.ts';
import { numberOf, type Row, textOf } from '../db/database.ts';
import { type BackupState, readBackupState } from '../monitoring/last-backup.ts';
import type { Platform } from '../platform.ts';
import { selectDueLooks, selectPace, selectSecretMark, selectSigningKeys } from './store.ts';

/** Facts in the database that other checks need. */
export interface StoredFacts {
  /** Registrations relayed in the last seven days. */
  readonly relaysOfWeek: number;
  /** The gas of a relay, of the newest transactions; undefined without any. */
  readonly relayGas: number | undefined;
  /** When the tables were made, in milliseconds. */
  readonly createdAt: number | undefined;
  /** How far this machine's clock is ahead of the database's, in milliseconds. */
  readonly aheadMs: number;
  /** How long ago a clean-up ran, negative if by a clock that was ahead; undefined before the first. */
  readonly sinceCleanUpMs: number | undefined;
  /** The mark of the secret that the database was used with last; absent before the first clean-up. */
  readonly secretMark?: string | undefined;
  /** The newest backup; absent if unknown. */
  readonly backup?: BackupState | undefined;
  /** Looks at accounts that are due, because something changed and by the time since the last; absent if unknown. */
  readonly looks?: { readonly changed: number; readonly routine: number } | undefined;
  /** The keys of ID tokens that `/jwks` has to have; absent if unknown. */
  readonly signingKeys?: readonly StoredSigningKey[] | undefined;
  /** The keys of credentials that `/.well-known/jwt-vc-issuer` has to have; absent if unknown. */
  readonly credentialKeys?: readonly StoredSigningKey[] | undefined;
}

/** The public half of a key that signs for others. */
export interface StoredSigningKey {
  readonly kid: string;
  /** The modulus of an RSA key, base64url. */
  readonly n?: string | undefined;
  /** A coordinate of any other. */
  readonly x?: string | undefined;
  /** Milliseconds. */
  readonly signsFrom: number;
}

/** Reads them, also from a database that another process serves. */
export async function readStoredFacts({ db, clock }: Pick<Platform, 'db' | 'clock'>): Promise<StoredFacts> {
  const asked = clock.now();
  const [time] = await db.read(selectTimes());
  const answered = clock.now();
  const known = time ? numberOf(time, 'known') : null;
  const [[rate], [looks], [secret], backup, signingKeys] = await Promise.all([
    db.read(selectPace(answered)),
    // The tables may be those of a former version yet.
    db.read(selectDueLooks(answered)).catch(() => []),
    db.read(selectSecretMark()).catch(() => []),
    readBackupState({ db, clock }).catch(() => undefined),
    db.read(selectSigningKeys(answered)).catch(() => undefined),
  ]);
  const [gas, created] = [rate?.['gas'] ?? null, rate?.['created'] ?? null];
  return {
    relaysOfWeek: Number(rate?.['week'] ?? 0),
    relayGas: gas === null ? undefined : Number(gas),
    createdAt: created === null ? undefined : Number(created),
    aheadMs: (asked + answered) / 2 - Number(time?.['now']),
    sinceCleanUpMs: known === null ? undefined : answered - known,
    secretMark: secret && String(secret['mark']),
    backup,
    looks: looks && { changed: Number(looks['changed']), routine: Number(looks['routine']) },
    signingKeys: signingKeys && keysOf(signingKeys, 'RS256'),
    credentialKeys: signingKeys && keysOf(signingKeys, 'ES256'),
  };
}

function keysOf(rows: readonly Row[], alg: 'RS256' | 'ES256'): readonly StoredSigningKey[] {
  return rows
    .filter((row) => row['alg'] === alg)
    .map((row) => {
      const { kid, n, x } = parseJson(textOf(row, 'public') ?? '') as Omit<StoredSigningKey, 'signsFrom'>;
      return { kid, n, x, signsFrom: Number(row['signs_from']) };
    });
}
