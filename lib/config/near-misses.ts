import { closest } from '../base/closest.ts';
import type { SettingWarning } from './contradictions.ts';
import { SETTING_NAMES } from './effective.ts';
import { SETTINGS, type SettingName } from './settings.ts';

/** Names for our settings in other programs, and among people who ported their settings from them. */
const BY_OTHER_PROGRAMS: Readonly<Record<string, SettingName>> = {
  SMTP_HOST: 'SMTP_URL',
  SMTP_SERVER: 'SMTP_URL',
  SMTP_USER: 'SMTP_URL',
  SMTP_USERNAME: 'SMTP_URL',
  SMTP_PASS: 'SMTP_URL',
  SMTP_PASSWORD: 'SMTP_URL',
  SMTP_PORT: 'SMTP_URL',
  SMTP_FROM: 'EMAIL_FROM',
  PUBLIC_URL: 'BASE_URL',
  LISTEN_ADDR: 'HOST',
  RESEND_KEY: 'RESEND_API_KEY',
};

/** Settings that were removed, each with its remedy. */
const GONE: Readonly<Record<string, string>> = {
  BACKUP_S3_REGION: 'set BACKUP_S3_ENDPOINT to the one of the region, or AWS_REGION for a service that is not Amazon',
  DATABASE_CACHE_MB: 'remove it: each connection has 16 MiB',
  DATABASE_MMAP_MB: 'remove it: nothing is mapped into memory',
  DATABASE_READ_AHEAD_MB: 'remove it: the first GiB is read after the start',
  DATABASE_WRITER: 'remove it: a thread of its own writes',
  DKIM_DOMAIN: 'remove it: mails are signed for the domain of EMAIL_FROM',
  KEEP_DEAD_WEBHOOKS_DAYS: 'remove it: they are kept for 14 days',
  KEEP_FAILED_REGISTRATIONS_DAYS: 'remove it: they are kept for 30 days',
  PAY_MAX_FEE: 'remove it: an operation may cost 0.01 ether at most',
  SPONSOR_ACCOUNT_DAILY_MAX: 'remove it: 20 operations of one account are sponsored a day',
};

/**
 * Kubernetes sets these for a service that is named vault, and many programs the others, which mean something else
 * there.
 */
const OTHERS = /^(?:VAULT_(?:SERVICE_|PORT)|(?:HOME|PATH|MAIL|TERM|USER|SHELL|LOGNAME|HOSTNAME|HOSTTYPE)$)/;

/** A short name is near many others. */
const CHARS_PER_EDIT = 4;
const EDITS_MAX = 3;

/**
 * The names of environment variables that look like a setting's and are none. Of names alone: no value is looked at.
 * `vault serve` asks after its first answer.
 */
export function findNearMisses(names: readonly string[]): readonly SettingWarning[] {
  const known = new Map<string, number>(SETTING_NAMES.map((name) => [name, lettersOf(name)]));
  return names.flatMap((name) => {
    if (known.has(name.replace(/_FILE$/, '')) || known.has(name)) return misplacedFile(name);
    const gone = GONE[name];
    if (gone !== undefined) return [{ name, problem: 'is not a setting any more', remedy: gone }];
    if (OTHERS.test(name)) return [];
    const meant = meantBy(name, known);
    return meant === undefined ? [] : [{ name, problem: 'is not a setting', remedy: `did you mean ${meant}?` }];
  });
}

function meantBy(name: string, known: ReadonlyMap<string, number>): string | undefined {
  const [, written = '', file = ''] = /^(.*?)(_FILE)?$/.exec(name.toUpperCase().replace(/[^A-Z0-9]/g, '_')) ?? [];
  const bare = written.replace(/^VAULT_/, '');
  const exact = [written, bare].find((one) => known.has(one)) ?? BY_OTHER_PROGRAMS[written];
  const meant = exact ?? nearest(written, known);
  return meant === undefined ? undefined : meant + file;
}

/** One edit changes two letters at most, so most names are ruled out before edits are counted. */
function nearest(written: string, known: ReadonlyMap<string, number>): string | undefined {
  const most = Math.min(EDITS_MAX, Math.floor(written.length / CHARS_PER_EDIT));
  if (most === 0) return undefined;
  const letters = lettersOf(written);
  const alike = [...known].filter(([, others]) => bitsOf(letters ^ others) <= 2 * most).map(([name]) => name);
  return closest(written, alike, most);
}

/** A bit for each letter that a name has. */
function lettersOf(name: string): number {
  let letters = 0;
  for (let i = 0; i < name.length; i++) letters |= 1 << (name.charCodeAt(i) & 31);
  return letters;
}

function bitsOf(set: number): number {
  let count = 0;
  for (let left = set; left !== 0; left &= left - 1) count++;
  return count;
}

/** `NAME_FILE` is for secrets and URLs: of any other setting it would be ignored. */
function misplacedFile(name: string): SettingWarning[] {
  const setting = name.replace(/_FILE$/, '') as SettingName;
  const isRead = Object.hasOwn(SETTINGS, name) || SETTINGS[setting].kind !== 'plain';
  return isRead ? [] : [{ name, problem: `is not read: ${setting} is not a secret`, remedy: `set ${setting} itself` }];
}
