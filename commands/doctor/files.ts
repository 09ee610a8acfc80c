import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../lib/config/config.ts';
import { type DoctorCheck, type Finding, ok, warn } from '../../lib/doctor/finding.ts';
import { KEY_FILES } from '../setup/secrets.ts';

/** Checks who can read the vault's files. */
export function fileChecks({ dataDir }: Config): readonly DoctorCheck[] {
  return [{ name: 'files', remedy: `give the vault access to DATA_DIR ${dataDir}`, run: () => checkModes(dataDir) }];
}

function checkModes(dataDir: string): readonly Finding[] {
  if (!existsSync(dataDir)) return [ok('files', `there is no DATA_DIR ${dataDir} yet: the first start creates it`)];
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
    ...(open.length === 0 ? [ok('files', `${there.length} in DATA_DIR, none readable by other users`)] : []),
  ];
}

/** As `draftOf` names what is not whole yet. */
const DRAFT = /\.\d+\.[0-9a-f]{8}-[0-9a-f-]{27}$/;
