import { VERSION } from '../lib/base/version.ts';
import { print } from './cli/print.ts';

/** Prints the release. */
export function version(): number {
  print(`vault ${VERSION}`);
  return 0;
}
