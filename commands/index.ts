import type { Command, Commands } from './cli/command.ts';
import { configCommand } from './config.ts';
import { serveCommand } from './serve/serve.ts';
import { versionCommand } from './version.ts';

/**
 * Every command but `help`, in the order of the help. Commands that `serve` does not need are loaded on demand, so that
 * a start is quick and takes little memory.
 */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init/init.ts')).initCommand,
  serve: async () => serveCommand,
  config: async () => configCommand,
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  health: async () => (await import('./health.ts')).healthCommand,
  migrate: async () => (await import('./migrate.ts')).migrateCommand,
  backup: async () => (await import('./backup/backup.ts')).backupCommand,
  restore: async () => (await import('./backup/restore.ts')).restoreCommand,
  export: async () => (await import('./backup/export.ts')).exportCommand,
  'limits show': async () => (await import('./limits.ts')).limitsShowCommand,
  'limits clear': async () => (await import('./limits.ts')).limitsClearCommand,
  'invites create': async () => (await import('./invites.ts')).invitesCreateCommand,
  'invites list': async () => (await import('./invites.ts')).invitesListCommand,
  'invites revoke': async () => (await import('./invites.ts')).invitesRevokeCommand,
  'clients list': async () => (await import('./clients.ts')).clientsListCommand,
  'clients secret': async () => (await import('./clients.ts')).clientsSecretCommand,
  'clients check': async () => (await import('./clients.ts')).clientsCheckCommand,
  'operators add': async () => (await import('./operators.ts')).operatorsAddCommand,
  'operators list': async () => (await import('./operators.ts')).operatorsListCommand,
  'operators revoke': async () => (await import('./operators.ts')).operatorsRevokeCommand,
  'registrations find': async () => (await import('./registrations.ts')).registrationsFindCommand,
  'registrations undo': async () => (await import('./registrations.ts')).registrationsUndoCommand,
  'person show': async () => (await import('./person.ts')).personShowCommand,
  'person export': async () => (await import('./person.ts')).personExportCommand,
  'person erase': async () => (await import('./person.ts')).personEraseCommand,
  'recoveries list': async () => (await import('./recoveries.ts')).recoveriesListCommand,
  'recoveries cancel': async () => (await import('./recoveries.ts')).recoveriesCancelCommand,
  'clock confirm': async () => (await import('./clock.ts')).clockConfirmCommand,
  'keys rotate': async () => (await import('./keys.ts')).keysRotateCommand,
  'webhooks list': async () => (await import('./webhooks.ts')).webhooksListCommand,
  'webhooks resend': async () => (await import('./webhooks.ts')).webhooksResendCommand,
  'token mint': async () => (await import('./token.ts')).tokenMintCommand,
  'token inspect': async () => (await import('./token.ts')).tokenInspectCommand,
  'token delegate': async () => (await import('./token.ts')).tokenDelegateCommand,
  'token revoke': async () => (await import('./token.ts')).tokenRevokeCommand,
  'contracts deploy': async () => (await import('./contracts/contracts.ts')).contractsDeployCommand,
  'service install': async () => (await import('./service/install.ts')).serviceInstallCommand,
  'service switch': async () => (await import('./service/switch.ts')).serviceSwitchCommand,
  verify: async () => (await import('./verify/verify.ts')).verifyCommand,
  completions: async () => (await import('./cli/completions.ts')).completionsCommand,
  version: async () => versionCommand,
};

/** Loads all of them. */
export async function loadCommands(): Promise<Commands> {
  const loaded = Object.entries(COMMANDS).map(async ([name, load]) => [name, await load()] as const);
  return Object.fromEntries(await Promise.all(loaded));
}
