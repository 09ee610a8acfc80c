import type { Clock } from '../base/clock.ts';
import { badRequest } from '../base/error.ts';
import type { Config } from '../config/config.ts';
import type { EmailSender } from '../delivery/email.ts';
import { chosenProvider, DELIVERY_CHANNELS, namesBut } from '../delivery/providers.ts';
import type { SmsProvider } from '../delivery/sms.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { type Identifier, maskIdentifier, parseNamedIdentifier } from '../identity/identifier.ts';
import { useForTestMessage } from '../limits/budgets.ts';
import { lastLimitReached } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { troubleOf } from './trouble.ts';

/** The vault's own means to send a test message. */
export interface TestSender {
  readonly config: Config;
  readonly clock: Clock;
  readonly email: EmailSender;
  readonly sms: SmsProvider;
}

/** An address or a number that a test message may go to. Throws 400 `Invalid identifier`. */
export function parseRecipient(text: string): Identifier {
  const identifier = parseNamedIdentifier(text);
  if (identifier.channel === 'handle')
    throw badRequest('Invalid identifier', 'Expected an email address, or a phone number with + and its country code.');
  return identifier;
}

/** `sendTest` from the console: it is counted, and emits an event. Throws 429 `rate_limited`. */
export async function sendCountedTest(
  ctx: TestSender & Pick<Platform, 'db' | 'metrics'>,
  to: Identifier,
): Promise<Finding> {
  const { config, clock, db } = ctx;
  const now = clock.now();
  const { channel } = to;
  const use = useForTestMessage(config, now);
  const event = eventOf('message.tested', { app: DEFAULT_APP, at: now }, { channel, identifier: maskIdentifier(to) });
  const results = await db.write(emitEvent(event, { when: use.room }), ...use.spend, use.resets);
  const full = use.full(results.at(-1)?.rows[0]);
  if (full.length > 0) throw lastLimitReached(ctx, full);
  return sendTest(ctx, to);
}

/**
 * Sends a message that says that it is a test, through the provider in force, and returns the outcome. It does not
 * count towards people's limits. Never rejects.
 */
export async function sendTest(sender: TestSender, to: Identifier): Promise<Finding> {
  const { config, clock } = sender;
  const name = to.channel === 'sms' ? 'sms' : 'mail';
  const channel = DELIVERY_CHANNELS.find((one) => one.name === name);
  const provider = channel && chosenProvider(channel, config);
  if (!channel || !provider) return fail(name, 'there is no provider', 'see docs/settings.md');
  const { setting } = channel;
  if (provider.name === 'none')
    return fail(name, `${setting} is none: nothing is sent`, `set ${setting} to ${namesBut(provider, channel)}`);
  const start = clock.monotonic();
  try {
    await send(sender, to);
  } catch (error) {
    const { text, remedy } = troubleOf(error, provider.remedy);
    return fail(name, `the test message to ${maskIdentifier(to)} was not sent: ${text}`, remedy);
  }
  if (provider.prints)
    return warn(
      name,
      `${setting} is ${provider.name}: the test message was printed`,
      `set ${setting} to ${namesBut(provider, channel)}`,
    );
  const seconds = ((clock.monotonic() - start) / 1000).toFixed(1);
  return ok(
    name,
    `${provider.name} took the test message to ${maskIdentifier(to)} over in ${seconds} s: ${LOOK[name]}`,
  );
}

const LOOK = {
  mail: 'look whether it arrives, and not among junk',
  sms: 'look whether it arrives',
} as const;

async function send({ config, email, sms }: TestSender, { channel, value: to }: Identifier): Promise<void> {
  const language = config.defaultLanguage;
  const message = { to, app: DEFAULT_APP, language, notice: 'test', lifetimeSeconds: 0 } as const;
  if (channel === 'email') return email.send(message);
  if (sms.kind === 'own') return sms.send(message);
  // The provider writes the text itself: it is a code, which opens nothing here.
  if (sms.kind === 'verify') return sms.send(to, language, 'registration');
}
