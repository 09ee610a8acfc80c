import type { SettingName } from '../../lib/config/settings.ts';

/** A flag or an operand of a command, by the name under which its value is found. */
export interface Option {
  readonly name: string;
  /** `--name`, `--name <value>`, or without dashes for an operand, which is given by its place. */
  readonly written: string;
  readonly meaning: string;
  /** The words that it takes one of, as shells complete them; absent where it takes others too. */
  readonly values?: readonly string[];
  /** Whether it may be given again: then its value is all of them, a line each. */
  readonly isRepeated?: boolean;
}

/** A flag or an operand, as it is written, and its meaning. */
export function option(written: string, meaning: string, values?: readonly string[]): Option {
  const [name = ''] = written.replace(/^--/, '').split(/[ ,]/);
  return { name, written, meaning, ...(values && { values }) };
}

/** Whether the flag is followed by a value. */
export function takesValue({ written }: Option): boolean {
  return written.includes('<');
}

/** Whether it is a positional word, not a flag. */
export function isOperand({ written }: Option): boolean {
  return !written.startsWith('-');
}

/** How a flag looks on the command line. */
export function flagOfOption({ name }: Option): string {
  return `--${name}`;
}

/** The settings file. */
export const CONFIG = option(
  '--config <file>',
  'a file of NAME=value lines; flags override the environment, the environment overrides the file',
);
/** JSON instead of words. */
export const JSON_OUTPUT = option('--json', 'print JSON');
/** Says what would change. */
export const DRY_RUN = option('--dry-run', 'print what would be done, and change nothing');
/** The backup that is written or read. */
export const FILE = option('FILE', 'the backup file');
/** The generated secrets, in a backup. */
export const WITH_SECRETS = option(
  '--with-secrets',
  'include the generated secrets of DATA_DIR in the backup, or restore them from it',
);
/** Replaces what is there. */
export const FORCE = option(
  '--force',
  'replace files that are there, or were changed by hand; they are kept under another name',
);
/** Asks nothing. */
export const YES = option('--yes', 'ask nothing; in init, other settings have their defaults');
/** The recipient of the doctor's test message. */
export const SEND_TO = option('--send-to <address>', 'send a test mail, or a test SMS to a number such as +49…');
/** Leaves nothing out. */
export const FULL = option('--full', 'check all tables of a large database; show all rows of a person');
/** The help of a command. */
export const HELP = option('--help, -h', 'print this text');
/** The release. */
export const VERSION_FLAG = option('--version, -v', 'print the release');

/** The person, or the identifier, that a command is about. */
export const IDENTIFIER = option('IDENTIFIER', 'such as alice@example.com, +4915123456789, handle:alice or a DID');
/** The row that a command acts on. */
export const ID = option('ID', 'the id that list or find shows');

/** The holder of a token or an invite, and how long it is good. */
export const APP = option('--app <app>', 'the app that it is for [token delegate, invites create: every app]');
export const EXPIRES = option('--expires <time>', 'lifetime, such as 12h or 30d [token delegate: 30d, invites: 7d]');

/** The settings that locate the database, for commands that work on it. */
export const DATABASE_SETTINGS: readonly SettingName[] = ['DATA_DIR', 'DATABASE_URL', 'DATABASE_AUTH_TOKEN'];

/** The same, and where backups are. */
export const BACKUP_PLACE_SETTINGS: readonly SettingName[] = [
  ...DATABASE_SETTINGS,
  'BACKUP_S3_ENDPOINT',
  'BACKUP_S3_ACCESS_KEY_ID',
  'BACKUP_S3_SECRET_ACCESS_KEY',
];

/** The settings in the help of `vault serve`; `vault help settings` has the others. */
export const MOST_USED_SETTINGS: readonly SettingName[] = [
  'BASE_URL',
  'HOST',
  'PORT',
  'TRUSTED_PROXIES',
  'DATA_DIR',
  'DATABASE_URL',
  'EMAIL_PROVIDER',
  'EMAIL_FROM',
  'SMTP_URL',
  'RPC_URL',
  'CHAIN_ID',
];
