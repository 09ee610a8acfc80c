import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, utf8 } from '../base/bytes.ts';
import type { Row, Statement } from '../db/database.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import type { Keys } from '../identity/keys.ts';
import type { Platform } from '../platform.ts';
import { recordKeyMark, selectKeyMarks } from './store.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'keys' | 'log'>;

/** Statements of one batch, and a report on the rows of the first. */
export interface KeyRecord {
  readonly statements: readonly Statement[];
  /** Says in the log which keys are others than the database was used with last. */
  readonly report: (former: readonly Row[]) => void;
}

/** Records the keys in use, and emits `key.rotated` for each that differs from the one recorded before. */
export function recordKeys({ config, clock, keys, log }: Ctx): KeyRecord {
  const { operatorSecret } = config;
  const [attestation] = keys.attestation;
  const marks = new Map([
    ...(attestation ? [['attestation', markOf('attestation', attestation)] as const] : []),
    ...(operatorSecret === undefined ? [] : [['operator', markOf('operator', utf8(operatorSecret))] as const]),
    ['vault', secretMark(keys)],
  ]);
  const at = clock.now();
  const changes = Array.from(marks, ([name, mark]) =>
    recordKeyMark(name, mark, eventOf('key.rotated', { app: DEFAULT_APP, at }, { key: name })),
  );
  return {
    statements: [selectKeyMarks(), ...changes.flat()],
    report(former) {
      for (const { name, mark } of former) {
        const used = marks.get(String(name));
        if (used === undefined || used === mark) continue;
        const message = name === 'vault' ? { message: OTHER_SECRET } : {};
        log({ level: 'warn', event: 'key_replaced', key: String(name), ...message });
      }
    },
  };
}

/**
 * The message for a person whose vault starts with another secret, as after a restore without the file of the first
 * one.
 */
export const OTHER_SECRET =
  'VAULT_SECRET is not the one that this database was used with: tokens, passes and attestations of before are void';

/** The mark of `VAULT_SECRET`, by a key that follows from it. */
export function secretMark({ codePepper }: Pick<Keys, 'codePepper'>): string {
  return markOf('vault', codePepper);
}

/** Half of an HMAC under a key of at least 256 bits: it distinguishes keys and reveals nothing about them. */
function markOf(name: string, key: Uint8Array): string {
  return toHex(hmac(sha256, key, utf8(`vault/key-mark/${name}/v1`))).slice(0, 32);
}
