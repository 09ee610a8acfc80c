// RFC 5869: HKDF with SHA-256.

import { hmac256 } from './hmac.ts';
import { wipe } from './window.ts';

/** The longest `info` taken. */
export const HKDF_INFO_MAX: u32 = 1024;
/** The longest output: 255 hashes (section 2.3). */
export const HKDF_OUT_MAX: u32 = 8160;

const PRK = memory.data(32);
/** T(i-1), info and the counter of section 2.3. */
const STEP = memory.data(32 + 1024 + 1);

/** Derives `n` bytes into `out`, which may overlap every input. The caller keeps to the two limits above. */
export function hkdf256(
  ikm: usize,
  ikmLength: usize,
  salt: usize,
  saltLength: usize,
  info: usize,
  infoLength: usize,
  out: usize,
  n: usize,
): void {
  hmac256(salt, saltLength, ikm, ikmLength, PRK);
  memory.copy(STEP + 32, info, infoLength);
  let start = STEP + 32;
  let count: u8 = 1;
  for (let done: usize = 0; done < n; done += 32) {
    store<u8>(STEP + 32 + infoLength, count++);
    hmac256(PRK, 32, start, STEP + 33 + infoLength - start, STEP);
    start = STEP;
    memory.copy(out + done, STEP, min<usize>(32, n - done));
  }
  wipe(PRK, 32);
  wipe(STEP, 33 + infoLength);
}
