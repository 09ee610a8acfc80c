import { readFileSync } from 'node:fs';
import { arch, platform } from 'node:os';

/**
 * The machine that this program is for, as the releases name it. Asked of the system: the bundler would write the
 * constants of `process` into the code, and programs for different machines would then hold different code.
 */
export function targetName(): string {
  const system = platform() === 'win32' ? 'windows' : platform();
  return `${system}-${arch()}${system === 'linux' && isMusl() ? '-musl' : ''}`;
}

/** Whether musl's loader, and not glibc's, has loaded this program. */
function isMusl(): boolean {
  try {
    return readFileSync('/proc/self/maps', 'utf8').includes('/ld-musl-');
  } catch {
    return false;
  }
}
