import type { Arguments } from './cli/arguments.ts';
import type { Described } from './cli/help.ts';
import { config } from './config.ts';
import { migrate } from './migrate.ts';
import { serve } from './serve/serve.ts';
import { version } from './version.ts';

/** What the program can be told to do; `run` resolves with the exit code. */
export interface Command extends Described {
  readonly run: (given: Arguments) => number | Promise<number>;
}

/** Every command but `help`, in the order of the help. What serving does not need is loaded by the command itself, so that a start stays quick and small. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'runs the vault (the default)',
    options: ['config', 'help', 'version'],
    usesSettings: true,
    exitCodes: '0 stopped by SIGTERM or SIGINT, 1 cannot start or continue, 2 invalid usage',
    run: serve,
  },
  config: {
    summary: 'shows the settings in force and their sources',
    options: ['config', 'json', 'help'],
    usesSettings: true,
    exitCodes: '0 the vault would start, 1 failure, 2 it would not start',
    run: config,
  },
  doctor: {
    summary: 'checks every dependency and prints what to do',
    options: ['config', 'json', 'help'],
    usesSettings: true,
    notes: [
      'It sends nothing and changes nothing.',
      'Each finding is marked ✓ works, ! works with a warning, ✗ does not work, or – not checked.',
    ],
    exitCodes: '0 no ✗, 1 at least one ✗, 2 invalid usage',
    run: async (given) => (await import('./doctor/doctor.ts')).doctor(given),
  },
  migrate: {
    summary: "brings the database's tables up to date",
    options: ['config', 'dry-run', 'help'],
    usesSettings: true,
    run: migrate,
  },
  backup: {
    summary: 'writes everything stored into one file, while the vault runs',
    options: ['FILE', 'with-secrets', 'json', 'config', 'help'],
    usesSettings: true,
    notes: [
      'The file is one checked state of the database. Only its owner can read it. It never replaces a file.',
      'It contains secrets only with --with-secrets. Keep the secrets that the command lists somewhere else.',
    ],
    run: async (given) => (await import('./backup/backup.ts')).backup(given),
  },
  restore: {
    summary: 'checks a backup and makes it the database; stop the vault first',
    options: ['FILE', 'overwrite', 'with-secrets', 'other-secret', 'dry-run', 'json', 'config', 'help'],
    usesSettings: true,
    notes: [
      'The whole backup is checked before anything is replaced.',
      'A libSQL database must be empty. If a restore into it is interrupted, run it again: it starts from the beginning.',
    ],
    run: async (given) => (await import('./backup/restore.ts')).restore(given),
  },
  export: {
    summary: 'prints the registrations, one JSON object per line, ordered by id',
    options: ['after', 'out', 'config', 'help'],
    usesSettings: true,
    notes: ['The last line on standard error has their number and the id to continue --after.'],
    run: async (given) => (await import('./backup/export.ts')).exportRegistrations(given),
  },
  'limits show': {
    summary: 'shows how much of each limit is used',
    options: ['kind', 'key', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./limits.ts')).limitsShow(given),
  },
  'limits clear': {
    summary: 'resets a limit for a blocked user',
    options: ['kind', 'key', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./limits.ts')).limitsClear(given),
  },
  'keys rotate': {
    summary: 'creates a new attestation key; previous keys still verify',
    options: ['operator', 'dry-run', 'json', 'config', 'help'],
    usesSettings: true,
    notes: [
      'The keys take effect at the next start of the vault.',
      'If a setting provides the key, the new value is printed for you to set, and nothing is changed.',
      "VAULT_SECRET is never rotated: that would void pending codes and change the operator's DID.",
    ],
    run: async (given) => (await import('./keys.ts')).rotateKeys(given),
  },
  'webhooks list': {
    summary: 'lists dead webhooks; --status lists others',
    options: ['status', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./webhooks.ts')).webhooksList(given),
  },
  'webhooks resend': {
    summary: 'sends a dead webhook again',
    options: ['ID', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./webhooks.ts')).webhooksResend(given),
  },
  'token mint': {
    summary: "prints a token for an app's event stream",
    options: ['app', 'channel', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./token.ts')).mintToken(given),
  },
  'token inspect': {
    summary: 'shows what a token contains and what is wrong with it',
    options: ['TOKEN', 'json', 'help'],
    usesSettings: false,
    exitCodes: '0 valid unless revoked, 1 not valid, 2 invalid usage',
    run: async (given) => (await import('./token.ts')).inspect(given),
  },
  'token delegate': {
    summary: 'prints a delegation that lets another key issue such tokens',
    options: ['aud', 'app', 'command', 'expires', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./token.ts')).delegateToken(given),
  },
  'token revoke': {
    summary: 'revokes a token, or a delegation and everything based on it',
    options: ['CID', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./token.ts')).revoke(given),
  },
  'contracts deploy': {
    summary: "deploys the contracts to RPC_URL's chain and prints the settings to use; DEPLOYER_PRIVATE_KEY pays",
    options: ['config', 'owner', 'registrar', 'dry-run', 'json', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./contracts/contracts.ts')).deployContracts(given),
  },
  completions: {
    summary: 'prints a shell script that completes commands and flags',
    options: ['SHELL', 'help'],
    usesSettings: false,
    run: async (given) => (await import('./cli/completions.ts')).completions(given, COMMANDS),
  },
  version: { summary: 'prints the release', options: ['help'], usesSettings: false, run: version },
};
