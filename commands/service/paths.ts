import { posix } from 'node:path';
import { UsageError } from '../cli/arguments.ts';

/** Where a program of a service belongs. */
export const ELSEWHERE = '/usr/local/bin/vault';

/** A path that systemd and the proxies take as one word, without dot segments. Throws `UsageError` for another. */
export function servicePath(name: string, path: string): string {
  if (/^\/[\w./@+-]*$/.test(path)) return posix.resolve(path);
  throw new UsageError(`${name} must be an absolute path of letters, digits and . _ - + @ for a service: ${path}`);
}

/** As `servicePath`, for a path that the unit must see: it hides these folders from the vault. */
export function visible(name: string, path: string): string {
  const place = posix.isAbsolute(path) ? posix.resolve(path) : path;
  if (!/^\/(?:home|root|run\/user|tmp|var\/tmp)(?:\/|$)/.test(place)) return servicePath(name, path);
  const remedy = name === '--program' ? `install -m 755 ${path} ${ELSEWHERE}, and run that` : 'choose another place';
  throw new UsageError(`${name} is ${path}, in a folder that the unit hides from the vault: ${remedy}.`);
}

/** As `visible`, for a folder that the vault may write to: none that other parts of the system use. */
export function ownFolder(name: string, path: string, example = '/var/lib/vault'): string {
  const place = visible(name, path);
  if (!SYSTEM.test(place)) return place;
  throw new UsageError(
    `${name} is in ${place}, which is the system's: choose a folder of its own, such as ${example}.`,
  );
}

/** Folders that hold those of others, and those of the kernel. */
const SYSTEM =
  /^\/(?:(?:bin|etc|lib\d*|media|mnt|opt|run|sbin|srv)?|(?:usr|var)(?:\/\w+)?|(?:boot|dev|proc|sys)(?:\/.*)?)$/;
