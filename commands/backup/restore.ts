import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../lib/config/config.ts';
import { SETTINGS } from '../../lib/config/settings.ts';
import { backupKey } from '../../lib/identity/keys.ts';
import { type Arguments, needOption, UsageError } from '../cli/arguments.ts';
import type { Command } from '../cli/command.ts';
import {
  BACKUP_PLACE_SETTINGS,
  CONFIG,
  DRY_RUN,
  FILE,
  HELP,
  JSON_OUTPUT,
  option,
  WITH_SECRETS,
} from '../cli/options.ts';
import { printAnswer } from '../cli/print.ts';
import { counted, createProgress, type Progress } from '../cli/progress.ts';
import { ATTESTATION_FILE, KEY_FILES, keepSecret, makeDataDirectory, SECRET_FILES } from '../setup/secrets.ts';
import { checkSettings, isEmbedded, previewSettings } from '../setup/settings.ts';
import { filePath } from '../storage/database.ts';
import { type Manifest, type Sealed, unseal } from './backup-file.ts';
import type { FoundFile, Restoring } from './backup-from.ts';
import { checkFile } from './check-file.ts';
import { isOfName } from './proof.ts';
import { restoreEmbedded } from './restore-embedded.ts';
import { restoreRemote } from './restore-remote.ts';
import { whileAlone } from './turn-lock.ts';

/** `vault restore`. */
export const restoreCommand: Command = {
  summary: 'checks a backup and makes it the database; stop the vault first',
  options: [
    FILE,
    option(
      '--from <place>',
      'the folder or s3://BUCKET/PREFIX of vault backup --to; FILE is then a name in it [the newest]',
    ),
    option('--overwrite', 'replace a database that is not empty; the old file is kept beside it'),
    option('--erasures <file>', 'a list of erasures (DATA_DIR/erasures of another machine) to apply too'),
    WITH_SECRETS,
    option('--other-secret', 'accept a backup of another VAULT_SECRET; then only damage is reliably detected'),
    DRY_RUN,
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: BACKUP_PLACE_SETTINGS,
  examples: ['vault restore /var/backups/today.backup --dry-run --config /etc/vault/vault.env'],
  notes: [
    'The whole backup is checked before anything is replaced.',
    'On a new machine put the vault.secret of the backed-up vault into DATA_DIR first, or set its VAULT_SECRET: a new one has other keys.',
    'A libSQL database must be empty. If a restore into it is interrupted, run it again: it starts from the beginning.',
  ],
  run: restore,
};

/**
 * Makes a backup the database. The whole backup is checked before anything is replaced, and the old file is kept. If it
 * is interrupted at any point, the database is either the old one or the complete restored one. Throws an `Error` that
 * explains the problem; nothing is changed then.
 */
async function restore(given: Arguments): Promise<number> {
  const progress = createProgress();
  return tell(given, await restoreFile(given, progress).finally(progress.end));
}

async function restoreFile(given: Arguments, progress: Progress): Promise<Outcome> {
  const from = given.options['from'];
  const path = from === undefined ? resolve(needOption(given, 'FILE')) : undefined;
  if (path !== undefined && !existsSync(path)) throw new UsageError(`there is no file ${path}.`);
  const { settings, unkept } = previewSettings(given);
  const config = checkSettings(settings);
  const key = unkept.includes('VAULT_SECRET') ? undefined : backupKey(config.vaultSecret);
  const restoring = { config, key, progress };
  if (path !== undefined) return restorePath(given, restoring, { path, shown: path });
  const { withBackupFrom } = await import('./backup-from.ts');
  return withBackupFrom(given, restoring, (file) => restorePath(given, restoring, file));
}

async function restorePath(given: Arguments, restoring: Restoring, file: FoundFile): Promise<Outcome> {
  const { config, key, progress } = restoring;
  const { path, shown, named } = file;
  progress.say('reading …');
  const sealed = unseal(path, key);
  checkOrigin(given, sealed);
  const { manifest } = sealed;
  if (named !== undefined && !isOfName(manifest, named))
    throw new Error(`${shown} was made at ${manifest.createdAt}: somebody gave it the name of another backup`);
  const secrets = secretsToKeep(given, config, manifest);
  progress.say('checking …');
  checkFile(path, manifest);
  const told = {
    file: shown,
    createdAt: manifest.createdAt,
    rows: manifest.rows,
    isMac: sealed.isMac === true,
    holdsSecrets: manifest.secrets !== undefined,
  };
  if (given.options['dry-run'] !== undefined) return { ...told, restored: false };
  progress.say('copying …');
  const keep = () => keepSecrets(config, secrets);
  makeDataDirectory(config.dataDir);
  const order = { config, path, manifest, keep, progress, isKeyKnown: key !== undefined };
  const { keptAs, erased, ended } = await whileAlone(config.dataDir, 'restore', () => putInPlace(given, order));
  return { ...told, restored: true, erased, ended, ...(keptAs === undefined ? {} : { keptAs }) };
}

/** A MAC of another secret is as good as none. */
function checkOrigin({ options }: Arguments, { isMac }: Sealed): void {
  if (isMac !== false || options['other-secret'] !== undefined) return;
  throw new Error(
    'the backup was made under another VAULT_SECRET, or someone changed it. Set the VAULT_SECRET it was made under. ' +
      '--other-secret accepts it anyway, but then only damage is reliably detected',
  );
}

interface Order {
  readonly config: Config;
  readonly path: string;
  readonly manifest: Manifest;
  readonly keep: () => void;
  readonly progress: Progress;
  /** Whether the settings have the secret, by which erased identifiers are found. */
  readonly isKeyKnown: boolean;
}

async function putInPlace({ options }: Arguments, order: Order): Promise<Pick<Outcome, 'keptAs' | 'erased' | 'ended'>> {
  const { config, path, manifest, keep, progress, isKeyKnown } = order;
  const { erasures: listed } = options;
  if (listed !== undefined && !existsSync(listed)) throw new UsageError(`there is no file ${listed}.`);
  const { endOperatorsIn, erasuresOf, eraseInDraft } = await import('./erase-again.ts');
  const erasures = erasuresOf(config, listed);
  if (erasures.size > 0 && !isKeyKnown) throw new Error(NO_SECRET);
  let erased = 0;
  let ended = 0;
  const eraseIn = async (draft: string) => {
    if (erasures.size > 0) progress.say('erasing …');
    const done = await eraseInDraft(config, draft, manifest, erasures);
    erased = done.erased;
    ended = endOperatorsIn(draft);
    return 'operators' in done.rows ? { ...done.rows, operators: 0 } : done.rows;
  };
  const isOverwrite = options['overwrite'] !== undefined;
  if (isEmbedded(config.databaseUrl)) {
    const target = resolve(filePath(config.databaseUrl));
    const keptAs = await restoreEmbedded({ backup: path, manifest, target, isOverwrite, eraseIn, keep });
    return { keptAs, erased, ended };
  }
  if (isOverwrite)
    throw new UsageError('A libSQL database is not overwritten: create an empty one and set DATABASE_URL to it.');
  await restoreRemote(config, path, manifest, progress, eraseIn);
  keep();
  return { keptAs: undefined, erased, ended };
}

const NO_SECRET =
  'people were erased since, and without the VAULT_SECRET of then they cannot be found in the backup: set it, or move ' +
  'DATA_DIR/erasures away if they may come back';

/** The backup's secrets that are to become files. Throws when one of that name holds something else. */
function secretsToKeep({ options }: Arguments, { dataDir }: Config, { secrets = {} }: Manifest): [string, string][] {
  if (options['with-secrets'] === undefined) return [];
  if (Object.keys(secrets).length === 0)
    throw new UsageError('the backup contains no secrets: it was made without --with-secrets.');
  return Object.entries(secrets).map(([name, text]) => {
    const isKey = KEY_FILES.includes(name) && typeof text === 'string';
    if (!isKey || 'problem' in SETTINGS[settingOf(name)].parser(text))
      throw new Error('the backup contains a secret that a vault does not use');
    const path = join(dataDir, name);
    if (existsSync(path) && readFileSync(path, 'utf8').trim() !== text)
      throw new Error(
        `${path} and the backup contain different secrets: move the file away first, or leave out --with-secrets`,
      );
    return [path, text];
  });
}

function settingOf(name: string): 'ATTESTATION_SIGNING_KEY' | keyof typeof SECRET_FILES {
  if (name === ATTESTATION_FILE) return 'ATTESTATION_SIGNING_KEY';
  return name === SECRET_FILES.VAULT_SECRET ? 'VAULT_SECRET' : 'OPERATOR_SECRET';
}

function keepSecrets({ dataDir }: Config, secrets: readonly [string, string][]): void {
  if (secrets.length > 0) makeDataDirectory(dataDir);
  for (const [path, text] of secrets) keepSecret(path, text, []);
}

interface Outcome {
  readonly restored: boolean;
  readonly file: string;
  readonly createdAt: string;
  readonly rows: Readonly<Record<string, number>>;
  readonly isMac: boolean;
  /** Whether the backup has the generated secrets. */
  readonly holdsSecrets: boolean;
  readonly keptAs?: string | undefined;
  /** Identifiers that were erased since the backup was made, and are erased in the restored database again. */
  readonly erased?: number | undefined;
  /** Operators whose tokens were ended. */
  readonly ended?: number | undefined;
}

function tell(given: Arguments, { isMac, holdsSecrets, ...outcome }: Outcome): number {
  const authenticated = isMac ? 'hmac' : 'digest';
  const { restored, file, createdAt, rows, keptAs, erased = 0, ended = 0 } = outcome;
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const lines = [
    `${file}: ${counted(total, 'row')} as of ${createdAt} ${restored ? 'restored: this is the database now' : 'could be restored'}.`,
  ];
  if (keptAs !== undefined) lines.push(`The previous database is kept as ${keptAs}.`);
  if (erased > 0)
    lines.push(`Erased again: ${counted(erased, 'identifier')} that an erasure since the backup had taken out.`);
  if (ended > 0) lines.push(`The tokens of ${counted(ended, 'operator')} are ended: vault operators add makes others.`);
  printAnswer(given, { ...outcome, authenticated }, () => lines.join('\n'));
  if (!isMac)
    console.error(
      'vault: the backup is not damaged. Whether someone changed it can be checked only with the VAULT_SECRET it was made under: put that vault.secret into DATA_DIR before the vault starts, or nothing that it has signed is believed any more.',
    );
  for (const line of restored ? missingSecrets(given, holdsSecrets) : []) console.error(`vault: ${line}`);
  return 0;
}

/** The secrets that the next start would make, as they were not put back. */
function missingSecrets(given: Arguments, areInBackup: boolean): string[] {
  const { unkept } = previewSettings(given);
  if (unkept.length === 0) return [];
  const names = unkept.map((name) => SECRET_FILES[name]).join(' and no ');
  const also = areInBackup ? ', or restore with --with-secrets, as the backup has them' : '';
  return [
    `DATA_DIR has no ${names}: put back what the backed-up vault had${also}. The start makes new ones otherwise.`,
  ];
}
