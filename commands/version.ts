import { VERSION } from '../lib/version.ts';

/** Prints the release. */
export function version(): number {
  console.log(`vault ${VERSION}`);
  return 0;
}
