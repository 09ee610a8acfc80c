import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../lib/config/config.ts';
import { type DoctorCheck, type Finding, fail, ok, warn } from '../../lib/doctor/finding.ts';
import { KEY_FILES } from '../setup/secrets.ts';

/** Checks who can read the vault's files. */
export function fileChecks({ dataDir }: Config): readonly DoctorCheck[] {
  const authority = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
  return [
    { name: 'files', remedy: `give the vault access to DATA_DIR ${dataDir}`, run: () => checkModes(dataDir) },
    ...(authority === '' ? [] : [{ name: 'files', remedy: UNREADABLE, run: () => checkAuthority(authority) } as const]),
  ];
}

function checkModes(dataDir: string): readonly Finding[] {
  if (!existsSync(dataDir)) {
    const problem = whyNotMade(dataDir);
    if (problem === undefined) return [ok('files', `there is no DATA_DIR ${dataDir} yet: the first start creates it`)];
    return [fail('files', `DATA_DIR ${dataDir} cannot be made: ${problem}`, ELSEWHERE)];
  }
  const modes = [
    [dataDir, 0o700],
    ...['vault.db', ...KEY_FILES].map((name) => [join(dataDir, name), 0o600] as const),
  ] as const;
  const there = modes.filter(([path]) => existsSync(path));
  const open = there.filter(([path]) => (statSync(path).mode & 0o077) !== 0);
  const left = readdirSync(dataDir).filter((name) => DRAFT.test(name));
  return [
    ...open.map(([path, mode]) =>
      warn('files', `${path} can be read by other users`, `chmod ${mode.toString(8)} ${path}`),
    ),
    ...left.map((name) =>
      warn('files', `${name} was left by a killed command, or is still being written`, `rm ${join(dataDir, name)}`),
    ),
    ...(open.length === 0 ? [ok('files', inDataDir(there.length - 1))] : []),
  ];
}

const ELSEWHERE =
  "set DATA_DIR to a folder that the vault's user can make; if that is another user, run the command as that one";

/** The system's word for why a folder cannot be made, by making another one in its place; undefined if it can. */
export function whyNotMade(path: string): string | undefined {
  let parent = resolve(path);
  while (!existsSync(parent) && parent !== dirname(parent)) parent = dirname(parent);
  try {
    rmdirSync(mkdtempSync(join(parent, '.vault-doctor-')));
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** `count` is without the directory itself. */
function inDataDir(count: number): string {
  if (count === 0) return 'DATA_DIR has no file of the vault, and is closed to other users: the first start fills it';
  return `DATA_DIR and the ${count === 1 ? 'file' : `${count} files`} of the vault in it are closed to other users`;
}

/** The names that `draftOf` gives to unfinished files. */
const DRAFT = /\.\d+\.[0-9a-f]{8}-[0-9a-f-]{27}$/;

const UNREADABLE = 'let the vault read the file of NODE_EXTRA_CA_CERTS: it is read once, as the process starts';

/** The runtime reads the file at its start, and trusts fewer authorities where it cannot. */
function checkAuthority(path: string): readonly Finding[] {
  const count = readFileSync(path, 'utf8').split('-----BEGIN CERTIFICATE-----').length - 1;
  if (count === 0) return [fail('files', `NODE_EXTRA_CA_CERTS ${path} has no certificate in PEM`, UNREADABLE)];
  return [ok('files', `NODE_EXTRA_CA_CERTS adds ${count === 1 ? 'an authority' : `${count} authorities`}`)];
}
