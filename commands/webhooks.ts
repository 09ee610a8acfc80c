import { systemClock } from '../lib/clock.ts';
import { createStore } from '../lib/db/store.ts';
import { WEBHOOK_STATUSES, type WebhookStatus } from '../lib/db/webhooks.ts';
import { type DeliveryView, listDeliveries, resendDead } from '../lib/deliveries.ts';
import { VaultError } from '../lib/error.ts';
import { createMetrics } from '../lib/metrics.ts';
import { type Arguments, needOption, UsageError } from './arguments.ts';
import { openExisting } from './database.ts';
import { checkSettings, previewSettings } from './settings.ts';

type Services = Parameters<typeof resendDead>[0];

/** Prints webhooks, the newest first: the dead ones, unless `--status` names others; as a table or with `--json`. */
export async function webhooksList(given: Arguments): Promise<number> {
  const { options } = given;
  const status = readStatus(options['status'] ?? 'dead');
  const found = await onDatabase(given, (vault) => listDeliveries(vault, { status }));
  if (options['json'] !== undefined) console.log(JSON.stringify(found, null, 2));
  else console.log(found.length === 0 ? `No webhook is ${status}.` : found.map(lineOf).join('\n'));
  return 0;
}

/** Queues a dead webhook again, for the vault that runs to send. */
export async function webhooksResend(given: Arguments): Promise<number> {
  const text = needOption(given, 'ID');
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(id)) throw new UsageError('ID is the number that vault webhooks list shows.');
  const resent = await onDatabase(given, (vault) => resendDead(vault, id));
  if (given.options['json'] !== undefined) console.log(JSON.stringify(resent, null, 2));
  else console.log(`${resent.id} ${resent.type}: queued`);
  return 0;
}

function readStatus(text: string): WebhookStatus {
  const status = WEBHOOK_STATUSES.find((one) => one === text);
  if (status === undefined) throw new UsageError(`--status is one of ${WEBHOOK_STATUSES.join(', ')}.`);
  return status;
}

async function onDatabase<T>(given: Arguments, work: (vault: Services) => Promise<T>): Promise<T> {
  const config = checkSettings(previewSettings(given).settings);
  const database = await openExisting(config);
  const { databaseMaxConnections: maxConnections } = config;
  const db = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections });
  try {
    return await work({ clock: systemClock, db });
  } catch (error) {
    if (error instanceof VaultError && error.code === 'not_found')
      throw new Error('there is no dead webhook of this id');
    throw error;
  } finally {
    database.close();
  }
}

function lineOf({ id, at, type, attempts, last_status, last_error, next_attempt_at }: DeliveryView): string {
  const last = last_status === null ? last_error : `${last_error ?? 'taken'} ${last_status}`;
  const next = next_attempt_at === null ? '' : `, next at ${next_attempt_at}`;
  return `${id}  ${at}  ${type}  ${attempts} attempts${last === null ? '' : `, last ${last}`}${next}`;
}
