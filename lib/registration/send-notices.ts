import { describeError } from '../base/log.ts';
import type { Row, Statement } from '../db/database.ts';
import type { EmailSender } from '../delivery/email.ts';
import type { SmsProvider } from '../delivery/sms.ts';
import { DEFAULT_APP } from '../events/catalogue.ts';
import { isErased } from '../identity/erasure.ts';
import type { Platform } from '../platform.ts';
import { leaseDueNotices, settleNotice } from './notice-store.ts';

const NOTICES_MAX = 20;

type Ctx = Pick<Platform, 'config' | 'db' | 'log'> & { readonly email: EmailSender; readonly sms: SmsProvider };

/** The statement that leases the notices which are due, for `deliverNotices`. */
export function leaseNotices(now: number): Statement {
  return leaseDueNotices(now, NOTICES_MAX);
}

/**
 * Tells addresses and numbers that another DID has taken them over. A process that dies in between sends a notice
 * again, with the same Message-ID. A provider that only knows codes carries none.
 */
export async function deliverNotices(ctx: Ctx, leased: readonly Row[]): Promise<void> {
  await Promise.all(
    leased.map(async (row) => {
      const id = Number(row['id']);
      try {
        await send(ctx, String(row['identifier']), idOf(row));
        await ctx.db.write(settleNotice(id));
      } catch (error) {
        ctx.log({ level: 'warn', event: 'notice_failed', registration: id, ...describeError(error) });
      }
    }),
  );
}

/** The same for each try of one notice. Numbers come again in a database that was restored; the time does not. */
function idOf({ id, taker, registered_at: registeredAt }: Row): string {
  return `taken-over-${id}-${taker ?? 0}-${Number(registeredAt).toString(36)}`;
}

async function send({ config, email, sms }: Ctx, key: string, messageId: string): Promise<void> {
  if (isErased(key)) return;
  const to = key.slice(key.indexOf(':') + 1);
  const who = { to, app: DEFAULT_APP, language: config.defaultLanguage };
  const notice = { ...who, notice: 'taken_over', messageId, lifetimeSeconds: 0 } as const;
  if (key.startsWith('email:') && !email.isOff) await email.send(notice);
  if (key.startsWith('sms:') && sms.kind === 'own') await sms.send(notice);
}
