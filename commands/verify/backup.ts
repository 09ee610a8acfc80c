import { MIGRATIONS } from '../../lib/db/schema.ts';
import { backupKey } from '../../lib/identity/keys.ts';
import { type Manifest, NewerBackup, unseal } from '../backup/backup-file.ts';
import { checkFile } from '../backup/check-file.ts';
import type { Arguments } from '../cli/arguments.ts';
import { counted } from '../cli/progress.ts';
import type { EvidenceJudgement } from './judgement.ts';
import { vaultKeys } from './vault-keys.ts';

const NEWEST_SCHEMA = Math.max(...MIGRATIONS.map(({ version }) => version));

/** Judges a backup as `vault restore --dry-run` does: hashes, MAC, the database in it, its schema and its rows. */
export function judgeBackup(given: Arguments, path: string): EvidenceJudgement {
  const vault = vaultKeys(given);
  const judged = (verdict: EvidenceJudgement['verdict'], finding: string, manifest?: Manifest): EvidenceJudgement => ({
    kind: 'backup',
    verdict,
    finding,
    facts: manifest ? factsOf(manifest) : {},
    notes: [],
  });
  try {
    const { manifest, isMac } = unseal(path, vault && backupKey(vault.config.vaultSecret));
    if (isMac === false)
      return judged('not_good', 'It was made under another VAULT_SECRET, or somebody changed it.', manifest);
    if (manifest.schema > NEWEST_SCHEMA) throw new NewerBackup('a newer vault made it, which can check its tables');
    checkFile(path, manifest);
    return isMac
      ? judged('good', 'This vault made it, and its database is whole.', manifest)
      : judged('undecided', NO_KEY, manifest);
  } catch (error) {
    if (error instanceof NewerBackup) return judged('undecided', sentence(error.message));
    if (error instanceof Error) return judged('not_good', sentence(error.message));
    throw error;
  }
}

function factsOf({ createdAt, vault, schema, rows, bytes, secrets }: Manifest): EvidenceJudgement['facts'] {
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  return {
    made: createdAt,
    release: vault,
    schema,
    bytes,
    rows: `${counted(total, 'row')} in ${counted(Object.keys(rows).length, 'table')}`,
    registrations: rows['registrations'] ?? 0,
    secrets: secrets === undefined ? 'none' : 'it holds generated secrets',
  };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const NO_KEY =
  'It is not damaged, and its database is whole. Whether somebody changed it, only the VAULT_SECRET that it was made under shows: run this with --config.';
