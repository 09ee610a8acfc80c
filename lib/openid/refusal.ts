// Explains a link that leads nowhere: to the developer, never where it could help an attacker.
import type { Client, Clients } from '../clients/client.ts';
import type { Config } from '../config/config.ts';
import { isLoopbackOrigin } from '../config/url-parsers.ts';
import type { JudgedRequest, PageFault } from './judge.ts';

const WORDS: Readonly<Record<PageFault, string>> = {
  query: 'The query of this link is longer than 8,192 characters, or is not well-formed.',
  client_id_missing: 'This link has no client_id.',
  client_id_twice: 'This link has client_id twice.',
  client_unknown: 'client_id of this link is not an app of CLIENTS.',
  client_document: 'client_id of this link is the URL of a document that is not in order:',
  redirect_uri_missing: 'This link has no redirect_uri.',
  redirect_uri_twice: 'This link has redirect_uri twice.',
  redirect_uri_unknown:
    'redirect_uri of this link is not one that CLIENTS has for the app, or its document. Each character counts: port, slash at the end, query.',
};

/** The words; those that the app may use are named on loopback alone. */
export function explainFault(
  { config, clients }: { readonly config: Pick<Config, 'baseUrl'>; readonly clients: Clients },
  { fault, client, about }: Extract<JudgedRequest, { fault: unknown }>,
): string {
  if (about !== undefined) return `${WORDS[fault]} ${about}.`;
  if (!isLoopbackOrigin(config.baseUrl)) return WORDS[fault];
  if (fault === 'client_unknown') return `${WORDS[fault]} CLIENTS has: ${[...clients.keys()].join(' ')}`;
  return fault === 'redirect_uri_unknown' ? `${WORDS[fault]} ${listOf(client)}` : WORDS[fault];
}

function listOf(client: Client | undefined): string {
  return `${client?.document ? 'The document' : 'CLIENTS'} has: ${client?.redirectUris.join(' ')}`;
}
