import { VaultError } from '../lib/base/error.ts';
import { cancelRecoveries, type ListedRecovery, listRecoveries } from '../lib/recovery/list.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { onStore } from './open-store.ts';

/** `vault recoveries list`. */
export const recoveriesListCommand: Command = {
  summary: 'lists open recoveries of accounts; --account lists all of one',
  options: [option('--account <address>', 'address of the account'), JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault recoveries list --config /etc/vault/vault.env'],
  run: recoveriesList,
};

/** `vault recoveries cancel`. */
export const recoveriesCancelCommand: Command = {
  summary: 'has the guardian withdraw the open recovery of an account',
  options: [option('ACCOUNT', 'address of the account'), JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault recoveries cancel 0x1234567890abcdef1234567890abcdef12345678 --config /etc/vault/vault.env'],
  run: recoveriesCancel,
};

/** Prints recoveries, the newest first; addresses of mail are masked. */
async function recoveriesList(given: Arguments): Promise<number> {
  const { account } = given.options;
  const query = account === undefined ? { isOpen: true } : { account: addressOf(account) };
  const found = await onStore(given, (vault) => listRecoveries(vault, query));
  printAnswer(given, found, () => (found.length === 0 ? 'No recovery found.' : found.map(lineOf).join('\n')));
  return 0;
}

/** Marks the recovery on the database; a running vault withdraws it on-chain. */
async function recoveriesCancel(given: Arguments): Promise<number> {
  const account = addressOf(needOption(given, 'ACCOUNT'));
  await onStore(given, (vault) => cancelRecoveries(vault, account)).catch((error) => {
    if (error instanceof VaultError && error.code === 'not_found')
      throw new Error('no recovery of this account is open');
    throw error;
  });
  printAnswer(given, { account, stopped: true }, () => `${account}: the guardian will withdraw`);
  return 0;
}

function addressOf(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new UsageError('the account is an address: 0x and 40 hex digits.');
  return text.toLowerCase();
}

function lineOf({ id, account, identifier, status, foreign, stopped, final, readyAt, reason }: ListedRecovery): string {
  const marks = { foreign, 'to be withdrawn': stopped, final };
  const state = [reason ?? status, ...Object.keys(marks).filter((name) => marks[name as keyof typeof marks])];
  return `${id}  ${account}  ${identifier ?? '-'}  ${readyAt ?? '-'}  ${state.join(', ')}`;
}
