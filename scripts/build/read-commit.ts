import { join } from 'node:path';
import { isoTime } from '../../lib/base/clock.ts';

const ROOT = join(import.meta.dir, '../..');

/** The commit that a build is made of, and its time. */
export interface Commit {
  readonly commit: string | null;
  readonly date: string | null;
}

/**
 * The commit that is checked out, with `+changes` if files differ from it; null outside a repository.
 * `SOURCE_DATE_EPOCH` (reproducible-builds.org) replaces its time.
 */
export function readCommit(epoch = process.env['SOURCE_DATE_EPOCH']): Commit {
  const [hash, seconds] = git('log', '-1', '--format=%H %ct')?.split(' ') ?? [];
  const isChanged = hash !== undefined && git('status', '--porcelain', '--untracked-files=no') !== '';
  const at = epoch ?? seconds;
  if (at !== undefined && !/^\d{1,11}$/.test(at)) throw new Error('SOURCE_DATE_EPOCH is seconds since 1970.');
  return {
    commit: hash === undefined ? null : `${hash}${isChanged ? '+changes' : ''}`,
    date: at === undefined ? null : isoTime(Number(at) * 1000),
  };
}

/** Git's answer; undefined where there is none. */
function git(...words: readonly string[]): string | undefined {
  try {
    const { exitCode, stdout } = Bun.spawnSync(['git', '-C', ROOT, ...words], { stdin: 'ignore', stderr: 'ignore' });
    return exitCode === 0 ? stdout.toString().trim() : undefined;
  } catch {
    return undefined;
  }
}
