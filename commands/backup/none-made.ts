import { dirname } from 'node:path';

/** Says that there is no backup, and why. */
export function noneMade(cause: unknown): Error {
  return new Error(`no backup was made: ${whyNot(cause)}`, { cause });
}

/** A system's error in words, with what to do where that is known. */
function whyNot(cause: unknown): string {
  const { code = '', path = '', syscall } = cause as NodeJS.ErrnoException;
  const folder = syscall === 'scandir' ? path : dirname(path);
  if (REFUSING.includes(code) && path !== '') return `${folder} cannot be written to (${code}): ${AS_WHOM}`;
  return cause instanceof Error ? cause.message : String(cause);
}

const REFUSING = ['EACCES', 'EPERM', 'EROFS'];
const AS_WHOM = "run this as the vault's user, or let this user write there";
