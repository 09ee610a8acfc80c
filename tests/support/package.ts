import { join } from 'node:path';
import { buildPackage } from '../../scripts/build/package.ts';
import { oncePerRun } from './once.ts';

const DIST = join(import.meta.dir, '../../dist');

/** The folder of the package, built of the sources as they are now, once a run. */
export async function packageOfRun(): Promise<string> {
  await oncePerRun('package', () => buildPackage(DIST));
  return DIST;
}
