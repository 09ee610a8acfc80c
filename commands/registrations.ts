import { VaultError } from '../lib/base/error.ts';
import { findRegistrations, undoClaim } from '../lib/registration/operator.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, HELP, ID, IDENTIFIER, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { onStore } from './open-store.ts';

/** `vault registrations find`. */
export const registrationsFindCommand: Command = {
  summary: 'finds the registrations of an identifier, a DID or a credential',
  options: [
    IDENTIFIER,
    option('--credential <id>', 'credential id, base64url, in place of IDENTIFIER'),
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault registrations find alice@example.com --config /etc/vault/vault.env'],
  run: registrationsFind,
};

/** `vault registrations undo`. */
export const registrationsUndoCommand: Command = {
  summary: 'fails a registration and gives back what it took over',
  options: [ID, JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault registrations undo 17 --config /etc/vault/vault.env'],
  run: registrationsUndo,
};

type Found = Awaited<ReturnType<typeof findRegistrations>>[number];

/** Prints registrations, failed ones too, the newest first; identifiers are masked unless one was asked for. */
async function registrationsFind(given: Arguments): Promise<number> {
  const { IDENTIFIER: text, credential: credentialId } = given.options;
  const query = text?.startsWith('did:') ? { did: text, credentialId } : { identifier: text, credentialId };
  const found = await onStore(given, (vault) => findRegistrations(vault, query)).catch(explain);
  printAnswer(given, found, () => (found.length === 0 ? 'No registration found.' : found.map(lineOf).join('\n')));
  return 0;
}

/** Undoes a registration on the database, whether a vault runs on it or not. Emits `registration.failed`. */
async function registrationsUndo(given: Arguments): Promise<number> {
  const text = needOption(given, 'ID');
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageError('ID is the number that vault registrations find shows.');
  const undone = await onStore(given, (vault) => undoClaim(vault, Number(text))).catch(explain);
  printAnswer(given, undone, () =>
    undone.holder === null
      ? `${undone.id} undone: nobody holds its identifier now`
      : `${undone.id} undone: registration ${undone.holder.id} (${undone.holder.did}) holds the identifier now`,
  );
  return 0;
}

function explain(error: unknown): never {
  if (!(error instanceof VaultError)) throw error;
  if (error.code === 'bad_request') throw new UsageError('give IDENTIFIER or --credential, complete.');
  if (error.code === 'not_found') throw new Error('no live registration has this id');
  throw error;
}

function lineOf({ id, identifier, did, status, failure, lost, final, holder, registeredAt }: Found): string {
  const state = [failure ?? lost ?? status, ...(final ? ['final'] : []), ...(holder ? ['holds its identifier'] : [])];
  return `${id}  ${registeredAt}  ${identifier}  ${did}  ${state.join(', ')}`;
}
