import {
  createInvite,
  endInvite,
  INVITE_DAYS_MAX,
  INVITE_USES_MAX,
  type InviteView,
  listInvites,
} from '../lib/admission/invites.ts';
import { createRefusedDomains } from '../lib/admission/refused-domains.ts';
import { VaultError } from '../lib/base/error.ts';
import { systemRandom } from '../lib/base/random.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { APP, CONFIG, DATABASE_SETTINGS, EXPIRES, HELP, ID, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { onStore } from './open-store.ts';
import { operatorFiles } from './setup/operator-files.ts';

/** `vault invites create`. */
export const invitesCreateCommand: Command = {
  summary: 'makes an invite, for a vault whose REGISTRATION is invite',
  options: [
    option('--uses <n>', 'how many addresses, numbers or handles it lets in; 1 if absent'),
    EXPIRES,
    option('--for <identifier>', 'the identifier that may use it, such as alice@example.com; any if absent'),
    APP,
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault invites create --uses 5 --expires 30d --config /etc/vault/vault.env'],
  notes: ['The token is shown once: the vault keeps a digest. Your app adds it to its link to /authorize as &invite='],
  run: invitesCreate,
};

/** `vault invites list`. */
export const invitesListCommand: Command = {
  summary: 'lists the newest invites and how often each was used',
  options: [JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault invites list --config /etc/vault/vault.env'],
  run: invitesList,
};

/** `vault invites revoke`. */
export const invitesRevokeCommand: Command = {
  summary: 'revokes an invite; people registered by it stay',
  options: [ID, JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault invites revoke 7 --config /etc/vault/vault.env'],
  run: invitesRevoke,
};

async function invitesCreate(given: Arguments): Promise<number> {
  const { uses, expires, for: identifier, app } = given.options;
  const request = {
    uses: uses === undefined ? undefined : readUses(uses),
    expiresInSeconds: expires === undefined ? undefined : readSeconds(expires),
    identifier,
    app,
  };
  const made = await onStore(given, async (vault) => {
    const refusedDomains = createRefusedDomains(vault.config, operatorFiles);
    const created = await createInvite({ ...vault, random: systemRandom, refusedDomains }, request);
    return { ...created, registration: vault.config.registration };
  }).catch(explain);
  const { token, invite, registration } = made;
  if (registration !== 'invite') console.error(`REGISTRATION is ${registration}: the vault asks nobody for invites.`);
  printAnswer(given, { token, invite }, () => `${token}\n${lineOf(invite)}`);
  return 0;
}

async function invitesList(given: Arguments): Promise<number> {
  const invites = await onStore(given, (vault) => listInvites(vault));
  printAnswer(given, invites, () => (invites.length === 0 ? 'No invites.' : invites.map(lineOf).join('\n')));
  return 0;
}

async function invitesRevoke(given: Arguments): Promise<number> {
  const text = needOption(given, 'ID');
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageError('ID is the number that vault invites list shows.');
  const revoked = await onStore(given, (vault) => endInvite(vault, Number(text))).catch(explain);
  printAnswer(given, revoked, () => `invite ${revoked.id} is revoked`);
  return 0;
}

function readUses(text: string): number {
  const uses = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (uses >= 1 && uses <= INVITE_USES_MAX) return uses;
  throw new UsageError(`--uses is a number from 1 to ${INVITE_USES_MAX}.`);
}

const SECONDS = { m: 60, h: 3_600, d: 86_400 } as const;

function readSeconds(text: string): number {
  const [, count = '', unit = 'd'] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS];
  if (seconds > 0 && seconds <= INVITE_DAYS_MAX * SECONDS.d) return seconds;
  throw new UsageError(`--expires is a time such as 30m, 12h or 7d, at most ${INVITE_DAYS_MAX}d.`);
}

function explain(error: unknown): never {
  if (!(error instanceof VaultError)) throw error;
  const { message, details } = error;
  if (error.code === 'bad_request') throw new UsageError(`${message}: ${details.hint ?? ''}`);
  if (error.code === 'not_found') throw new Error('no invite with this id is live');
  throw error;
}

function lineOf({ id, status, used, uses, identifier, app, expires_at }: InviteView): string {
  const whom = [identifier ?? 'anybody', ...(app === null ? [] : [`of ${app}`])].join(' ');
  return `${id}  ${status}  ${used} of ${uses} used  ${whom}  until ${expires_at}`;
}
