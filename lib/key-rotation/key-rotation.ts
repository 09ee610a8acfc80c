import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { toHex, utf8 } from '../base/bytes.ts';
import type { Statement } from '../db/database.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import type { Platform } from '../platform.ts';
import { recordKeyMark } from './store.ts';

/** Statements that record the keys in use and emit `key.rotated` for each that differs from the one recorded before. */
export function recordKeys({ config, clock, keys }: Pick<Platform, 'config' | 'clock' | 'keys'>): readonly Statement[] {
  const { operatorSecret } = config;
  const named: readonly (readonly [name: string, key: Uint8Array | undefined])[] = [
    ['attestation', keys.attestation[0]],
    ['operator', operatorSecret === undefined ? undefined : utf8(operatorSecret)],
    ['vault', keys.codePepper],
  ];
  return named.flatMap(([name, key]) => {
    const event = eventOf('key.rotated', { app: DEFAULT_APP, at: clock.now() }, { key: name });
    return key ? recordKeyMark(name, markOf(name, key), event) : [];
  });
}

/** Half of an HMAC under a key of at least 256 bits: it distinguishes keys and reveals nothing about them. */
function markOf(name: string, key: Uint8Array): string {
  return toHex(hmac(sha256, key, utf8(`vault/key-mark/${name}/v1`))).slice(0, 32);
}
