import { effectiveVars } from '../../lib/config/config.ts';
import type { SettingName } from '../../lib/config/settings.ts';
import { chosenProvider, DELIVERY_CHANNELS, type DeliveryChannel, namesBut } from '../../lib/delivery/providers.ts';
import { parseRecipient } from '../../lib/doctor/send-test.ts';
import { parseSmtpUrl } from '../mail/smtp-url.ts';
import {
  ask,
  askSetting,
  configSoFar,
  confirm,
  faultsOf,
  type Interview,
  isPublic,
  NOT_SHOWN,
  remark,
} from './interview.ts';

/** How codes are mailed, until a test message arrives or nobody wants one. */
export async function askMail(interview: Interview): Promise<void> {
  do await askDelivery(interview, 'mail');
  while (!(await tried(interview)));
}

/** How codes are sent to phones. */
export function askSms(interview: Interview): Promise<void> {
  return askDelivery(interview, 'sms');
}

/** Asks for the provider, then for what it needs. */
async function askDelivery(interview: Interview, name: DeliveryChannel['name']): Promise<void> {
  const channel = DELIVERY_CHANNELS.find((one) => one.name === name) as DeliveryChannel;
  const { setting, providers } = channel;
  const { vars, given } = interview;
  const isForOthers = isPublic(interview);
  const prints = providers.find((one) => one.prints);
  const sending = prints === undefined ? '' : namesBut(prints, channel);
  const isNeeded = isForOthers && name === 'mail' && vars[setting] === undefined;
  await askSetting(interview, setting, {
    words: `${setting}: ${isForOthers ? sending : `${sending.replace(' or ', ', ')} or ${prints?.name}, which prints them`}`,
    ...(isForOthers && name === 'sms' ? { offer: 'none' } : {}),
    isNeeded,
    judge: (text) =>
      isForOthers && text === prints?.name
        ? `${setting} must not be ${text} when others reach the vault: choose ${sending}`
        : undefined,
  });
  const chosen = chosenProvider(channel, providersOf(effectiveVars(vars)));
  for (const one of providers.flatMap(({ needs }) => needs) as SettingName[])
    if (given[one] === undefined && !chosen?.needs.includes(one) && one !== 'SMS_COUNTRIES') delete vars[one];
  for (const one of (chosen?.needs ?? []) as readonly SettingName[])
    await (one === 'SMTP_URL' ? askSmtp(interview) : askSetting(interview, one, neededBy(interview, one)));
}

function providersOf({ EMAIL_PROVIDER = '', SMS_PROVIDER = '' }: Readonly<Record<string, string | undefined>>) {
  return { emailProvider: EMAIL_PROVIDER, smsProvider: SMS_PROVIDER };
}

/** A sender may be given by its name alone. */
function neededBy({ vars }: Interview, name: SettingName) {
  const { hostname } = new URL(effectiveVars(vars)['BASE_URL'] ?? 'http://localhost');
  if (name !== 'EMAIL_FROM' || !hostname.includes('.')) return { isNeeded: true };
  const offer = `no-reply@${hostname}`;
  return { isNeeded: true, offer, meant: (text: string) => (/[@<>]/.test(text) ? text : `${text} <${offer}>`) };
}

/** The password is asked for by itself: unseen, and percent-encoded here. */
async function askSmtp(interview: Interview): Promise<void> {
  const { vars, given } = interview;
  if (given['SMTP_URL'] !== undefined) return;
  await askSetting(interview, 'SMTP_URL', {
    words: 'Mail server, such as smtp://user@host:587',
    isNeeded: true,
    isShown: true,
    meant: (text) => (text.includes('://') ? text : `smtp://${text}`),
    judge: faultOfSmtp,
  });
  const url = new URL(vars['SMTP_URL'] ?? '');
  if (url.username === '' || url.password !== '') return;
  const words = `Password of ${decodeURIComponent(url.username)}${NOT_SHOWN}`;
  url.password = encodeURIComponent(await ask(interview, { words, fallback: '', isHidden: true }));
  vars['SMTP_URL'] = url.href;
}

function faultOfSmtp(text: string): string | undefined {
  try {
    const url = new URL(text);
    // It is asked for next.
    if (url.username !== '' && url.password === '') url.password = '-';
    parseSmtpUrl(url.href);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Sends a test message if one is wanted; false where the settings of mail are to be asked for again. */
async function tried(interview: Interview): Promise<boolean> {
  const { vars, dialog, testTo } = interview;
  const channel = DELIVERY_CHANNELS.find(({ name }) => name === 'mail') as DeliveryChannel;
  const chosen = chosenProvider(channel, providersOf(effectiveVars(vars)));
  if (chosen === undefined || chosen.prints || chosen.name === 'none' || faultsOf(interview, MAIL).length > 0)
    return true;
  // Without a person the doctor sends it, at the end.
  if (!dialog.isTerminal) return true;
  const words = 'Send a test mail to (Enter sends none)';
  const to = await ask(interview, { words, fallback: testTo ?? '', judge: faultOfRecipient });
  if (to === '') return true;
  const { sendCheck } = await import('../doctor/send.ts');
  const config = configSoFar(interview, { TRUSTED_PROXIES: 'none', SMS_PROVIDER: 'none' });
  remark(interview, 'sending …');
  const [found] = await (await sendCheck(config, parseRecipient(to))).run();
  if (found?.state === 'ok') {
    remark(interview, `✓ ${found.text}.`);
    if (await confirm(interview, 'Did it arrive', true)) return true;
  } else remark(interview, `✗ ${found?.text}. → ${found?.remedy}`);
  return !(await confirm(interview, 'Ask about mail again', true));
}

const MAIL: readonly SettingName[] = ['EMAIL_PROVIDER', 'EMAIL_FROM', 'SMTP_URL'];

function faultOfRecipient(text: string): string | undefined {
  try {
    if (text === '' || parseRecipient(text).channel === 'email') return undefined;
  } catch {
    // As of a number: no mail goes there.
  }
  return 'It must be a mail address such as you@example.com';
}
