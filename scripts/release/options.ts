import { readFileSync } from 'node:fs';
import { parseMinisignKey } from '../../commands/release/minisign.ts';
import { nameOf, type Target } from '../build/targets.ts';
import { readSecretKey, type SecretKey } from './sign.ts';

/** The options of a release. */
export interface Asked {
  readonly targets: readonly Target[];
  readonly publicKey: string | null;
  readonly secretKey: SecretKey | undefined;
  readonly withChanges: boolean;
}

/** How a release is made. */
export const USAGE = `npm run release -- --public-key KEY [--secret-key FILE] [--targets NAMES] [--with-changes]

Makes every file of a release in dist/release.

  --public-key KEY   who signs, RW… as minisign writes it; it is put into the programs
  --secret-key FILE  the secret key, or the variable RELEASE_SECRET_KEY_FILE; without it, or if it has a password,
                     nothing is signed, and the command that does is printed
  --targets NAMES    only these, such as linux-x64,linux-arm64
  --with-changes     files may differ from the commit: for a trial`;

/** Reads the command line. Throws in words. */
export function readAsked(words: readonly string[], all: readonly Target[]): Asked {
  const given: Record<string, string> = {};
  const rest = words.flatMap((word) => word.split(/=(.*)/s).slice(0, word.includes('=') ? 2 : 1));
  while (rest.length > 0) {
    const flag = rest.shift() ?? '';
    if (!FLAGS.includes(flag)) throw new Error(`this is not understood: ${flag}`);
    const value = flag === '--with-changes' ? 'true' : rest.shift();
    if (!value) throw new Error(`${flag} needs a value`);
    given[flag] = value;
  }
  const path = given['--secret-key'] ?? process.env['RELEASE_SECRET_KEY_FILE'];
  const secretKey = path === undefined ? undefined : readSecretKey(readFileSync(path, 'utf8'));
  const publicKey = given['--public-key'] ?? secretKey?.publicKey ?? null;
  if (publicKey !== null && !parseMinisignKey(publicKey))
    throw new Error('--public-key is not a public key of minisign');
  if (secretKey && secretKey.publicKey !== publicKey) throw new Error('--public-key is not of --secret-key');
  if (publicKey === null && !given['--with-changes']) throw new Error('--public-key is missing');
  const targets = (given['--targets'] ?? '').split(',').filter((name) => name !== '');
  const unknown = targets.find((name) => !all.some((target) => nameOf(target) === name));
  if (unknown !== undefined) throw new Error(`unknown target: ${unknown}; known are ${all.map(nameOf).join(', ')}`);
  return {
    targets: targets.length === 0 ? all : all.filter((target) => targets.includes(nameOf(target))),
    publicKey,
    secretKey,
    withChanges: given['--with-changes'] !== undefined,
  };
}

const FLAGS = ['--public-key', '--secret-key', '--targets', '--with-changes'];
