import { emailHook, smsHook } from './hook.ts';
import { emailLog, noEmail, noSms, smsLog } from './log.ts';
import type { CheckResult, DeliveryProvider } from './provider.ts';
import { resend } from './resend.ts';
import { smtp } from './smtp.ts';
import { twilio } from './twilio.ts';

/** The providers of mail, in the order that settings name them. */
export const EMAIL_PROVIDERS = [emailLog, noEmail, smtp, resend, emailHook] as const;

/** The providers of text messages, in the order that settings name them. */
export const SMS_PROVIDERS = [smsLog, noSms, twilio, smsHook] as const;

/** The settings and services of all providers of mail together, and of all of text messages. */
export type EmailContext = All<Parameters<(typeof EMAIL_PROVIDERS)[number]['create']>[0]>;
export type SmsContext = All<Parameters<(typeof SMS_PROVIDERS)[number]['create']>[0]>;

type Provider = (typeof EMAIL_PROVIDERS | typeof SMS_PROVIDERS)[number];
type Check = Extract<Provider, { check: unknown }>['check'];

/** A provider as the doctor sees it. */
interface CheckedProvider extends DeliveryProvider {
  readonly check?: (outside: All<NonNullable<Parameters<Check>[0]>>) => Promise<readonly CheckResult[]>;
}

/** A value that is of every type of a union. */
type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Every) => void
  ? Every
  : never;

/** A channel for codes: its name in the doctor, the setting that chooses its provider, and the words for its codes. */
export interface DeliveryChannel {
  readonly name: 'mail' | 'sms';
  readonly setting: 'EMAIL_PROVIDER' | 'SMS_PROVIDER';
  readonly providers: readonly CheckedProvider[];
  readonly codes: string;
  readonly sent: string;
}

/** Every channel. */
export const DELIVERY_CHANNELS: readonly DeliveryChannel[] = [
  { name: 'mail', setting: 'EMAIL_PROVIDER', providers: EMAIL_PROVIDERS, codes: 'mail codes', sent: 'mailed' },
  { name: 'sms', setting: 'SMS_PROVIDER', providers: SMS_PROVIDERS, codes: 'SMS codes', sent: 'sent' },
];

/** The provider that the settings choose; undefined while the setting is at fault. */
export function chosenProvider(
  { name: channel, providers }: DeliveryChannel,
  { emailProvider, smsProvider }: { readonly emailProvider?: string; readonly smsProvider?: string },
): CheckedProvider | undefined {
  const chosen = channel === 'mail' ? emailProvider : smsProvider;
  return providers.find(({ name }) => name === chosen);
}

/** The words that may be set instead of one that prints, as "a or b"; `none` comes last. */
export function namesBut(prints: DeliveryProvider, { providers }: DeliveryChannel): string {
  const names = providers.filter((one) => one !== prints).map(({ name }) => name);
  const sorted = [...names.filter((name) => name !== 'none'), ...names.filter((name) => name === 'none')];
  return [sorted.slice(0, -1).join(', '), ...sorted.slice(-1)].filter(Boolean).join(' or ');
}
