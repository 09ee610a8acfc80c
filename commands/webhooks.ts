import { VaultError } from '../lib/base/error.ts';
import {
  type DeliveryView,
  listDeliveries,
  resendDead,
  WEBHOOK_STATUSES,
  type WebhookStatus,
} from '../lib/webhooks/deliveries.ts';
import { type Arguments, needOption, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { CONFIG, DATABASE_SETTINGS, HELP, ID, JSON_OUTPUT, option } from './cli/options.ts';
import { printAnswer } from './cli/print.ts';
import { onStore } from './open-store.ts';

/** `vault webhooks list`. */
export const webhooksListCommand: Command = {
  summary: 'lists dead webhooks; --status lists others',
  options: [
    option('--status <status>', 'queued, delivered or dead [dead]', ['queued', 'delivered', 'dead']),
    JSON_OUTPUT,
    CONFIG,
    HELP,
  ],
  usesSettings: true,
  settings: DATABASE_SETTINGS,
  examples: ['vault webhooks list --status queued --config /etc/vault/vault.env'],
  run: webhooksList,
};

/** `vault webhooks resend`. */
export const webhooksResendCommand: Command = {
  summary: 'sends a dead webhook again',
  options: [ID, JSON_OUTPUT, CONFIG, HELP],
  usesSettings: true,
  settings: [...DATABASE_SETTINGS, 'WEBHOOK_URL'],
  examples: ['vault webhooks resend 42 --config /etc/vault/vault.env'],
  run: webhooksResend,
};

/** Prints webhooks, the newest first: the dead ones, unless `--status` names others; as a table or with `--json`. */
async function webhooksList(given: Arguments): Promise<number> {
  const { options } = given;
  const status = readStatus(options['status'] ?? 'dead');
  const found = await onStore(given, (vault) => listDeliveries(vault, { status }));
  printAnswer(given, found, () => (found.length === 0 ? `No webhook is ${status}.` : found.map(lineOf).join('\n')));
  return 0;
}

/** Queues a dead webhook again; a running vault sends it. */
async function webhooksResend(given: Arguments): Promise<number> {
  const text = needOption(given, 'ID');
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(id)) throw new UsageError('ID is the number that vault webhooks list shows.');
  const { resent, mayPost } = await onStore(given, async (vault) => ({
    resent: await resendDead(vault, id),
    mayPost: vault.config.webhookUrl !== undefined,
  })).catch(explain);
  printAnswer(given, resent, () => `${resent.id} ${resent.type}: queued`);
  // This command's settings may differ from those of the running vault.
  if (!mayPost)
    console.error('vault: WEBHOOK_URL is not set here: the webhook waits until a vault with WEBHOOK_URL runs.');
  return 0;
}

function readStatus(text: string): WebhookStatus {
  const status = WEBHOOK_STATUSES.find((one) => one === text);
  if (status === undefined) throw new UsageError(`--status is one of ${WEBHOOK_STATUSES.join(', ')}.`);
  return status;
}

function explain(error: unknown): never {
  if (error instanceof VaultError && error.code === 'not_found')
    throw new Error('there is no dead webhook with this id');
  throw error;
}

function lineOf({ id, at, type, attempts, last_status, last_error, next_attempt_at }: DeliveryView): string {
  const last = last_status === null ? last_error : `${last_error ?? 'taken'} ${last_status}`;
  const next = next_attempt_at === null ? '' : `, next at ${next_attempt_at}`;
  return `${id}  ${at}  ${type}  ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${last === null ? '' : `, last ${last}`}${next}`;
}
