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
    exitCodes: '0 stopped by SIGTERM or SIGINT, 1 could not start or go on, 2 asked for something it cannot do',
    run: serve,
  },
  config: {
    summary: 'shows the settings in force and where they came from',
    options: ['config', 'json', 'help'],
    usesSettings: true,
    exitCodes: '0 a vault would start, 1 failed, 2 it would not',
    run: config,
  },
  doctor: {
    summary: 'tries everything the vault stands on, and says what to do about what it finds',
    options: ['config', 'json', 'help'],
    usesSettings: true,
    notes: [
      'Nothing is sent and nothing changed. Each finding is ✓ well, ! works, but, ✗ does not work, or – could not be tried, with what to do about it.',
    ],
    exitCodes: '0 no ✗, 1 a ✗, 2 asked for something it cannot do',
    run: async (given) => (await import('./doctor/doctor.ts')).doctor(given),
  },
  migrate: {
    summary: "brings the database's tables up to date",
    options: ['config', 'dry-run', 'help'],
    usesSettings: true,
    run: migrate,
  },
  backup: {
    summary: 'writes all that is stored into one file, while the vault serves',
    options: ['FILE', 'with-secrets', 'json', 'config', 'help'],
    usesSettings: true,
    notes: [
      'The file is one state of the database, checked, for its owner only, and replaces nothing. It holds no secrets but with --with-secrets: those it names must be kept elsewhere.',
    ],
    run: async (given) => (await import('./backup/backup.ts')).backup(given),
  },
  restore: {
    summary: 'checks a backup and makes it the database, while no vault runs',
    options: ['FILE', 'overwrite', 'with-secrets', 'other-secret', 'dry-run', 'json', 'config', 'help'],
    usesSettings: true,
    notes: [
      'The whole backup is checked before anything is replaced. A libSQL database must be empty; a restore into one that was cut short is begun anew by running it again.',
    ],
    run: async (given) => (await import('./backup/restore.ts')).restore(given),
  },
  export: {
    summary: 'prints the registrations, a JSON object a line, in the order of their ids',
    options: ['after', 'out', 'config', 'help'],
    usesSettings: true,
    notes: ['Standard error ends with how many there were and the id to go on --after.'],
    run: async (given) => (await import('./backup/export.ts')).exportRegistrations(given),
  },
  'limits show': {
    summary: 'shows how much of each limit is spent',
    options: ['kind', 'key', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./limits.ts')).limitsShow(given),
  },
  'limits clear': {
    summary: 'gives a limit back to whom it stops',
    options: ['kind', 'key', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./limits.ts')).limitsClear(given),
  },
  'keys rotate': {
    summary: 'makes a new attestation key; the ones before it still verify',
    options: ['operator', 'dry-run', 'json', 'config', 'help'],
    usesSettings: true,
    notes: [
      'The keys take effect at the next start of the vault. Keys that settings give are printed for you to set, and nothing is changed.',
      "VAULT_SECRET is never rotated: codes under way would be void, and the operator's DID another one.",
    ],
    run: async (given) => (await import('./keys.ts')).rotateKeys(given),
  },
  'webhooks list': {
    summary: 'lists webhooks that were given up, or with --status others',
    options: ['status', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./webhooks.ts')).webhooksList(given),
  },
  'webhooks resend': {
    summary: 'sends a webhook that was given up again',
    options: ['ID', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./webhooks.ts')).webhooksResend(given),
  },
  'token mint': {
    summary: "prints a token that opens an app's stream of events",
    options: ['app', 'channel', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./token.ts')).mintToken(given),
  },
  'token inspect': {
    summary: 'shows what a token says, and what is wrong with it',
    options: ['TOKEN', 'json', 'help'],
    usesSettings: false,
    exitCodes: '0 it would be followed, 1 it would not, 2 asked for something it cannot do',
    run: async (given) => (await import('./token.ts')).inspect(given),
  },
  'token delegate': {
    summary: 'prints a delegation by which another key may make such tokens',
    options: ['aud', 'app', 'command', 'expires', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./token.ts')).delegateToken(given),
  },
  'token revoke': {
    summary: 'makes a token, or a delegation and all that rests on it, count no more',
    options: ['CID', 'json', 'config', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./token.ts')).revoke(given),
  },
  'contracts deploy': {
    summary: "deploys the contracts to RPC_URL's chain, paid with DEPLOYER_PRIVATE_KEY, and prints the settings to use",
    options: ['config', 'owner', 'registrar', 'dry-run', 'json', 'help'],
    usesSettings: true,
    run: async (given) => (await import('./contracts/contracts.ts')).deployContracts(given),
  },
  completions: {
    summary: 'prints what makes a shell complete commands and flags',
    options: ['SHELL', 'help'],
    usesSettings: false,
    run: async (given) => (await import('./cli/completions.ts')).completions(given, COMMANDS),
  },
  version: { summary: 'prints the release', options: ['help'], usesSettings: false, run: version },
};
