import { VERSION } from '../lib/version.ts';
import { print } from './print.ts';

/** Prints the release. */
export function version(): number {
  print(`vault ${VERSION}`);
  return 0;
}
