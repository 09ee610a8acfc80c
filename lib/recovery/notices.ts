import { isoTime } from '../base/clock.ts';
import { describeError } from '../base/log.ts';
import type { Row } from '../db/database.ts';
import type { RecoveryNews } from '../delivery/recovery-message.ts';
import type { RecoveryContext } from './context.ts';
import { accountLink, mailPreferences } from './mail-preferences.ts';
import { forgetAddresses, leaseRecoveryNotices, type NoticeKind, settleRecoveryNotice } from './notice-store.ts';
import { type Recovery, selectRecovery, toRecovery } from './store.ts';

const NOTICES_MAX = 20;

/**
 * Sends the mails that are due. Each is settled once a server has it; a process that dies in between sends it again
 * with the same Message-ID, which mailboxes show once.
 */
export async function deliverRecoveryNotices(ctx: RecoveryContext): Promise<void> {
  const { db, clock } = ctx;
  const [leased] = await db.write(leaseRecoveryNotices(clock.now(), NOTICES_MAX));
  await Promise.all((leased?.rows ?? []).map((row) => deliver(ctx, row)));
  if (leased?.rows.length) await db.write(forgetAddresses());
}

async function deliver(ctx: RecoveryContext, row: Row): Promise<void> {
  const { db, clock, email, log, metrics } = ctx;
  const id = Number(row['id']);
  const key = String(row['identifier'] ?? '');
  const [found] = await db.read(selectRecovery(Number(row['recovery_id'])));
  const isSendable = key.startsWith('email:') && !email.isOff && found !== undefined;
  try {
    if (isSendable) {
      const recovery = toRecovery(found);
      const preferences = mailPreferences(row, ctx.config.defaultLanguage, recovery.app);
      const news = newsOf(recovery, row['kind'] as NoticeKind, accountLink(ctx.config, preferences));
      const to = key.slice(key.indexOf(':') + 1);
      // Numbers come again in a database that was restored; the time does not.
      const messageId = `recovery-${id}-${recovery.createdAt.toString(36)}`;
      await email.send({ to, ...preferences, recovery: news, messageId, lifetimeSeconds: 0 });
    }
    await db.write(settleRecoveryNotice(id, isSendable, clock.now()));
    metrics.counter('vault_recovery_notices_total').add({ outcome: isSendable ? 'sent' : 'nobody' });
  } catch (error) {
    metrics.counter('vault_recovery_notices_total').add({ outcome: 'failed' });
    log({
      level: 'warn',
      event: 'recovery_notice_failed',
      recovery: Number(row['recovery_id']),
      ...describeError(error),
    });
  }
}

function newsOf(recovery: Recovery, kind: NoticeKind, page: string): RecoveryNews {
  const { account, readyAt } = recovery;
  return {
    kind,
    status: endOf(recovery),
    account,
    readyAt: readyAt === null ? null : isoTime(readyAt),
    link: `${page}#stop=${account}`,
  };
}

function endOf({ status, failure }: Recovery): string {
  if (status !== 'failed') return status;
  return failure === 'upgraded' ? 'upgraded' : failure === 'guardian' ? 'stalled' : status;
}
