import { isoTime } from '../base/clock.ts';
import { describeError } from '../base/log.ts';
import { type Row, textOf } from '../db/database.ts';
import { leasePasskeyNotices, PASSKEY_NOTICES, settlePasskeyNotice } from '../holders/holders.ts';
import { accountLink, mailPreferences } from '../recovery/mail-preferences.ts';
import type { NoticeContext } from './notices.ts';

const NOTICES_MAX = 20;

type Ctx = Omit<NoticeContext, 'sms' | 'random'>;

/**
 * Sends the mails about passkeys that are new to an account, in the brand of the app where each was used. Each is
 * settled once a server has it; a process that dies in between sends it again with the same Message-ID. True when there
 * may be more.
 */
export async function deliverPasskeyNotices(ctx: Ctx): Promise<boolean> {
  const { db, clock } = ctx;
  const now = clock.now();
  if ((await db.read(PASSKEY_NOTICES.any(now))).length === 0) return false;
  const [leased] = await db.write(leasePasskeyNotices(now, NOTICES_MAX));
  const rows = leased?.rows ?? [];
  await Promise.all(rows.map((row) => deliver(ctx, row)));
  return rows.length === NOTICES_MAX;
}

async function deliver(ctx: Ctx, row: Row): Promise<void> {
  const { db, clock, config, email, log, metrics } = ctx;
  const id = Number(row['id']);
  const count = (outcome: 'sent' | 'nobody' | 'failed') =>
    metrics.counter('vault_passkey_notices_total').add({ outcome });
  try {
    if (!email.isOff) await email.send(mailOf(row, config));
    await db.write(settlePasskeyNotice(id, !email.isOff, clock.now()));
    count(email.isOff ? 'nobody' : 'sent');
  } catch (error) {
    count('failed');
    log({ level: 'warn', event: 'passkey_notice_failed', notice: id, ...describeError(error) });
  }
}

function mailOf(row: Row, config: Ctx['config']) {
  const preferences = mailPreferences(row, config.defaultLanguage);
  const key = String(row['identifier']);
  const at = Number(row['at']);
  const by: 'signin' | 'registration' = row['by'] === 'signin' ? 'signin' : 'registration';
  const passkey = {
    by,
    account: textOf(row, 'account') ?? '',
    at: isoTime(at),
    link: accountLink(config, preferences),
  };
  // Numbers come again in a database that was restored; the time does not.
  const messageId = `passkey-${row['id']}-${at.toString(36)}`;
  return { to: key.slice(key.indexOf(':') + 1), ...preferences, passkey, messageId, lifetimeSeconds: 0 };
}
