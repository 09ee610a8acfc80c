import { HOUR_MS, isoTime } from '../base/clock.ts';
import { describeError } from '../base/log.ts';
import { numberOf, type Row, textOf } from '../db/database.ts';
import type { ChallengeNews } from '../delivery/challenge-message.ts';
import type { EmailSender } from '../delivery/email.ts';
import type { SmsProvider } from '../delivery/sms.ts';
import {
  type ChallengeNoticeKind,
  leaseChallengeNotices,
  type Reach,
  settleChallengeNotice,
  wakeChallenge,
} from '../holders/holders.ts';
import { maskIdentifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { accountLink, mailPreferences } from '../recovery/mail-preferences.ts';
import { writePass } from '../verification/pass.ts';

const NOTICES_MAX = 20;

/** The services that send notices. */
export type NoticeContext = Pick<Platform, 'config' | 'clock' | 'random' | 'db' | 'log' | 'metrics'> & {
  readonly email: EmailSender;
  readonly sms: SmsProvider;
};

/** Whom this vault can write to: a provider that keeps the codes carries no text. */
export function reachOf({ config, email, sms }: NoticeContext): Reach {
  return { chainId: config.chainId, mail: !email.isOff, sms: sms.kind === 'own' };
}

/**
 * Sends the notices of challenges that are due. Each is settled once a server has it; a process that dies in between
 * sends it again with the same Message-ID.
 */
export async function deliverChallengeNotices(ctx: NoticeContext): Promise<void> {
  const [leased] = await ctx.db.write(leaseChallengeNotices(ctx.clock.now(), NOTICES_MAX));
  await Promise.all((leased?.rows ?? []).map((row) => deliver(ctx, row)));
}

async function deliver(ctx: NoticeContext, row: Row): Promise<void> {
  const { db, clock, log, metrics } = ctx;
  const [id, challenge] = [Number(row['id']), Number(row['challenge_id'])];
  const count = (outcome: 'sent' | 'failed') => metrics.counter('vault_challenge_notices_total').add({ outcome });
  try {
    const isSent = await send(ctx, row);
    const now = clock.now();
    await db.write(settleChallengeNotice(id, isSent, now), ...(isSent ? [wakeChallenge(challenge, now)] : []));
    if (isSent) count('sent');
  } catch (error) {
    count('failed');
    log({ level: 'warn', event: 'challenge_notice_failed', challenge, ...describeError(error) });
  }
}

/** False where a notice has no recipient: the provider has changed, or an erasure removed the challenge. */
async function send(ctx: NoticeContext, row: Row): Promise<boolean> {
  const { config, email, sms } = ctx;
  const address = textOf(row, 'challenge_identifier');
  const { channel, value: to } = readKey(String(row['identifier']));
  const reach = reachOf(ctx);
  if (address === null || !(channel === 'email' ? reach.mail : reach.sms)) return false;
  const preferences = mailPreferences(row, config.defaultLanguage);
  // A text message has room for little more than the link.
  const page = channel === 'email' ? accountLink(config, preferences) : `${config.baseUrl}/account`;
  const challenge = await newsOf(ctx, row, address, page);
  // Numbers come again in a database that was restored; the time does not.
  const messageId = `challenge-${row['id']}-${Number(row['challenge_opened_at']).toString(36)}`;
  const message = { to, ...preferences, challenge, messageId, lifetimeSeconds: 0 };
  if (channel === 'email') await email.send(message);
  else if (sms.kind === 'own') await sms.send(message);
  return true;
}

async function newsOf(ctx: NoticeContext, row: Row, address: string, page: string): Promise<ChallengeNews> {
  const { config, clock } = ctx;
  const kind = row['kind'] as ChallengeNoticeKind;
  const shown = maskIdentifier(readKey(address));
  if (kind === 'ended')
    return { status: STATUS[String(row['challenge_ended_by'])] ?? 'failed', address: shown, movesAt: null, link: page };
  const movesAt = numberOf(row, 'challenge_moves_at') ?? clock.now() + config.addressMoveHours * HOUR_MS;
  const pass = await writePass(ctx, address);
  return { status: kind, address: shown, movesAt: isoTime(movesAt), link: `${page}#keep=${pass}` };
}

/** How a challenge ended, in the words of its notices. */
const STATUS: Readonly<Record<string, ChallengeNews['status']>> = {
  holder: 'kept',
  released: 'released',
  replaced: 'replaced',
  moved: 'moved',
};

/** The channel and the address of an identifier as it is stored; handles have no challenges. */
function readKey(key: string): { readonly channel: 'email' | 'sms'; readonly value: string } {
  const at = key.indexOf(':');
  return { channel: key.slice(0, at) === 'sms' ? 'sms' : 'email', value: key.slice(at + 1) };
}
