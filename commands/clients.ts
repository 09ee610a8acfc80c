import { systemRandom } from '../lib/base/random.ts';
import { type Client, type Clients, isConfidential } from '../lib/clients/client.ts';
import { readClients } from '../lib/clients/clients-file.ts';
import { createClientSecret, secretDigest } from '../lib/clients/secret.ts';
import { type Config, ConfigError } from '../lib/config/config.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { operatorFiles } from './setup/operator-files.ts';
import { checkSettings, previewSettings } from './setup/settings.ts';

const SETTINGS = ['CLIENTS', 'APPS'] as const;

/** `vault clients list`. */
export const clientsListCommand: Command = {
  summary: 'lists the apps that people sign in to, as CLIENTS names them',
  options: [JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: SETTINGS,
  examples: ['vault clients list --config /etc/vault/vault.env'],
  run: clientsList,
};

/** `vault clients secret`. */
export const clientsSecretCommand: Command = {
  summary: 'makes a secret of an app, and the digest of it for CLIENTS',
  options: [option('APP', 'the app, one of APPS'), JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: SETTINGS,
  examples: ['vault clients secret tea --config /etc/vault/vault.env'],
  notes: [
    'The first line is the secret: give it to the app. It is shown once, and the vault keeps no copy.',
    'The second line is its digest: add it to "secrets" of the app in the file of CLIENTS, and restart the vault.',
    'While a secret is replaced, the file has both digests.',
  ],
  run: clientsSecret,
};

/** `vault clients check`. */
export const clientsCheckCommand: Command = {
  summary: 'checks the file of CLIENTS before a start, and says what weakens a sign-in',
  options: [JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: SETTINGS,
  examples: ['vault clients check --config /etc/vault/vault.env'],
  exitCodes: '0 the vault would start, 1 failure, 2 it would not start',
  run: clientsCheck,
};

function clientsList(given: Arguments): number {
  const clients = readOwn(given);
  printAnswer(given, [...clients.values()].map(viewOf), () =>
    clients.size === 0 ? 'No clients.' : [...clients.values()].map(lineOf).join('\n'),
  );
  return 0;
}

function clientsSecret(given: Arguments): number {
  const app = needOption(given, 'APP');
  const config = checkSettings(previewSettings(given).settings);
  if (!config.apps.includes(app)) throw new UsageError(`${app} is not one of APPS: add it there first.`);
  const secret = createClientSecret(systemRandom);
  const digest = secretDigest(secret);
  printAnswer(given, { client_id: app, secret, digest }, () => `${secret}\n${digest}`);
  return 0;
}

function clientsCheck(given: Arguments): number {
  const clients = readOwn(given);
  const warnings = [...clients.values()].flatMap(weaknessesOf);
  printAnswer(given, { clients: clients.size, warnings }, () => `CLIENTS is in order: ${countOf(clients.size)}`);
  if (given.options['json'] === undefined) for (const warning of warnings) console.error(`vault: ${warning}`);
  return 0;
}

function readOwn(given: Arguments): Clients {
  const config = checkSettings(previewSettings(given).settings);
  const clients = readOrFail(config);
  if (!clients) throw new UsageError('CLIENTS is not set.');
  return clients;
}

/** A wrong file is wrong usage, as a wrong setting is. */
function readOrFail(config: Config): Clients | undefined {
  try {
    return readClients(config, operatorFiles);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

function weaknessesOf({ id, needsPkce, redirectUris, secrets }: Client): readonly string[] {
  const plain = redirectUris.some((uri) => uri.startsWith('http:'));
  return [
    ...(needsPkce ? [] : [`${id} may sign in without PKCE: it has to check nonce or state`]),
    ...(plain ? [`${id} has a redirect URI without TLS, which is for development`] : []),
    ...(secrets.length > 1 ? [`${id} has two secrets: remove the one that it does not use any more`] : []),
  ];
}

function viewOf(client: Client) {
  const { id, redirectUris, secrets, needsPkce, sector, resources } = client;
  const pkce = needsPkce ? 'required' : 'optional';
  const urls = resources.map(({ url }) => url);
  return { client_id: id, redirect_uris: redirectUris, secrets: secrets.length, pkce, sector, resources: urls };
}

function lineOf(client: Client): string {
  const { id, redirectUris, secrets, needsPkce, sector, resources } = client;
  const shown = isConfidential(client) ? (secrets.length === 1 ? '1 secret' : '2 secrets') : 'public';
  const pkce = `PKCE ${needsPkce ? 'required' : 'optional'}`;
  const shared = sector === id ? [] : [`sector ${sector}`];
  const servers = resources.length === 0 ? [] : [`tokens for ${resources.map(({ url }) => url).join(' ')}`];
  return [id, shown, pkce, ...shared, redirectUris.join(' '), ...servers].filter(Boolean).join('  ');
}

function countOf(n: number): string {
  return n === 1 ? '1 client' : `${n} clients`;
}
