import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { devDependencies } from '../../package.json' with { type: 'json' };
import { nameOf, type Target } from '../build/targets.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dir, '../..');

/** The Bun that is in every program. */
export const BUN_VERSION = devDependencies.bun;

/** Bun's executable for a machine: where it is, and the package it came from. */
export interface Runtime {
  readonly path: string;
  readonly package: string;
  readonly sha256: string;
}

/**
 * Gets Bun's executable for a target by npm, into `folder`, unless it is there. Throws unless the package is the one
 * that `bun.lock` names.
 */
export async function fetchRuntime(target: Target, folder: string): Promise<Runtime> {
  const name = packageOf(target);
  const archive = join(folder, `${name.replace('@', '').replace('/', '-')}-${BUN_VERSION}.tgz`);
  const place = join(folder, nameOf(target));
  mkdirSync(place, { recursive: true });
  if (!existsSync(archive)) {
    await run(['npm', 'pack', '--silent', '--pack-destination', folder, `${name}@${BUN_VERSION}`], { cwd: place });
  }
  const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (found !== lockedSum(name)) {
    rmSync(archive);
    throw new Error(`${name} is not what bun.lock names: its sum is ${found}`);
  }
  await run(['tar', '-xzf', archive, '-C', place], { cwd: folder });
  const path = join(place, 'package/bin', target.startsWith('bun-windows') ? 'bun.exe' : 'bun');
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  return { path, package: `${name}@${BUN_VERSION}`, sha256 };
}

/** The package of Bun's executable: npm has other words for the processors than Bun's targets. */
export function packageOf(target: Target): string {
  return `@oven/${target.replace('arm64', 'aarch64')}`;
}

function lockedSum(name: string): string | undefined {
  const lock = readFileSync(join(ROOT, 'bun.lock'), 'utf8');
  const line = lock.split('\n').find((one) => one.includes(`["${name}@${BUN_VERSION}"`));
  return /"(sha512-[^"]+)"/.exec(line ?? '')?.[1];
}
