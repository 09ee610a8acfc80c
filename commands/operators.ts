import { VaultError } from '../lib/base/error.ts';
import { systemRandom } from '../lib/base/random.ts';
import { createKeys } from '../lib/identity/keys.ts';
import {
  addOperator,
  listOperators,
  OPERATOR_DAYS_MAX,
  OPERATOR_ROLES,
  type OperatorView,
  revokeOperator,
  revokeOperators,
} from '../lib/tokens/operators.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { onStore } from './open-store.ts';
import { previewSettings } from './setup/settings.ts';

const NAME = option('NAME', 'the operator, as each event of what they do says it, such as ada');

/** `vault operators add`. */
export const operatorsAddCommand: Command = {
  summary: 'gives an operator a name and prints a token for the console',
  options: [
    NAME,
    option('--role <role>', 'what it allows: viewer (states and masked rows) or operator', OPERATOR_ROLES),
    option('--days <n>', 'how long the token is good [90]'),
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: [...DATABASE_SETTINGS, 'VAULT_SECRET'],
  examples: ['vault operators add ada --role operator --config /etc/vault/vault.env'],
  notes: [
    'The token is shown once: the vault keeps its CID. Sign in with it at /console, as with the operator secret.',
    'A restore, and another VAULT_SECRET or attestation key, end the tokens of all operators.',
  ],
  run: operatorsAdd,
};

/** `vault operators list`. */
export const operatorsListCommand: Command = {
  summary: 'lists the operators and when their tokens end',
  options: [JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault operators list --config /etc/vault/vault.env'],
  run: operatorsList,
};

/** `vault operators revoke`. */
export const operatorsRevokeCommand: Command = {
  summary: "ends an operator's token from the next request on",
  options: [NAME, option('--all', 'end the tokens of all operators; without NAME'), JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault operators revoke ada --config /etc/vault/vault.env'],
  run: operatorsRevoke,
};

async function operatorsAdd(given: Arguments): Promise<number> {
  const name = needOption(given, 'NAME');
  const role = OPERATOR_ROLES.find((one) => one === needOption(given, 'role'));
  if (role === undefined) throw new UsageError(`--role is one of ${OPERATOR_ROLES.join(', ')}.`);
  const days = readDays(given.options['days']);
  if (previewSettings(given).unkept.includes('VAULT_SECRET'))
    throw new UsageError('There are no keys yet: start the vault once, or set VAULT_SECRET.');
  const added = await onStore(given, (vault) => {
    const { vaultSecret, attestationSigningKey } = vault.config;
    const keys = createKeys(vaultSecret, attestationSigningKey);
    return addOperator({ ...vault, keys, random: systemRandom }, { name, role, days });
  }).catch(explain);
  printAnswer(given, added, () => added.token);
  if (given.options['json'] === undefined) console.error(`vault: ${lineOf(added.operator)}`);
  return 0;
}

async function operatorsList(given: Arguments): Promise<number> {
  const operators = await onStore(given, (vault) => listOperators(vault));
  printAnswer(given, operators, () => (operators.length === 0 ? 'No operators.' : operators.map(lineOf).join('\n')));
  return 0;
}

async function operatorsRevoke(given: Arguments): Promise<number> {
  const { NAME: name, all } = given.options;
  if ((name === undefined) === (all === undefined)) throw new UsageError('Expected one of: NAME, --all.');
  const revoked = await onStore(given, async (vault) => {
    if (name === undefined) return revokeOperators(vault);
    await revokeOperator(vault, name);
    return 1;
  }).catch(explain);
  printAnswer(given, { revoked }, () => (name === undefined ? `${revoked} revoked` : `${name} is revoked`));
  return 0;
}

function readDays(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= OPERATOR_DAYS_MAX) return days;
  throw new UsageError(`--days is a number from 1 to ${OPERATOR_DAYS_MAX}.`);
}

function explain(error: unknown): never {
  if (!(error instanceof VaultError)) throw error;
  if (error.code === 'not_found') throw new Error('there is no operator of this name');
  if (error.code === 'operator_exists') throw new Error('an operator of this name has a token that is still good');
  if (error.code === 'bad_request') throw new UsageError(`${error.message}: ${error.details.hint ?? ''}`);
  throw error;
}

function lineOf({ name, role, status, expires_at }: OperatorView): string {
  return `${name}  ${role}  ${status}  until ${expires_at}`;
}
