import type { Purpose } from '../base/purpose.ts';
import type { Say } from './recovery-message.ts';

/** The GSM 7-bit alphabet (3GPP TS 23.038) and its extension, whose characters count twice. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENDED = '^{}\\[~]|€';

/** The units of a text message in each alphabet: of one segment, and of each of several, which are numbered. */
const UNITS_MAX = { GSM: [160, 153], 'UCS-2': [70, 67] } as const;

/** How long a text message is, in units of its alphabet, and in segments, each of which is paid for. */
export interface SmsCount {
  readonly alphabet: keyof typeof UNITS_MAX;
  readonly units: number;
  readonly segments: number;
}

/** Counts a text: in the GSM 7-bit alphabet, or in UCS-2 if any character needs that. */
export function countSms(text: string): SmsCount {
  const chars = [...text];
  const isGsm = chars.every((char) => BASIC.includes(char) || EXTENDED.includes(char));
  const alphabet = isGsm ? 'GSM' : 'UCS-2';
  const units = isGsm ? chars.length + chars.filter((char) => EXTENDED.includes(char)).length : text.length;
  const [one, each] = UNITS_MAX[alphabet];
  return { alphabet, units, segments: units <= one ? 1 : Math.ceil(units / each) };
}

/** Whether a text is one segment: 160 units of the GSM 7-bit alphabet, or 70 of UCS-2 if any character needs that. */
export function isOneSegment(text: string): boolean {
  return countSms(text).segments === 1;
}

/** The contents of a text message. */
export interface SmsNotice {
  readonly code?: string | undefined;
  readonly pass?: string | undefined;
  readonly purpose?: Purpose | undefined;
  readonly isTaken: boolean;
  /** The origin-bound line of the code; absent where the host cannot have one. */
  readonly boundLine?: string | undefined;
  readonly lifetime: string;
  /** Stands for a brand whose letters take too much room. */
  readonly host: string;
}

/**
 * The text of the SMS, in one segment: the fullest of its forms that fits. With a code it ends in the origin-bound line
 * if there is room.
 */
export function smsOf(
  { code, pass, purpose = 'registration', isTaken, boundLine, lifetime, host }: SmsNotice,
  say: Say,
): string {
  const plain = plainly(say);
  if (isTaken) return fitting([plain('sms.taken'), plain('sms.taken', { brand: host }), plain('sms.lost')]);
  if (code === undefined)
    return fitting([
      plain('sms.pass', { pass: pass ?? '' }),
      plain('sms.pass', { pass: pass ?? '', brand: host }),
      pass ?? '',
    ]);
  const [long, brief] = FORMS[purpose];
  const [full, short] = [plain(long, { code, lifetime }), plain(brief, { code })];
  // Letters of the brand that need UCS-2 leave no room: then the host replaces it.
  const byHost = plain(long, { code, lifetime, brand: host });
  const bound = (form: string) => (boundLine === undefined ? [] : [`${form}\n\n${boundLine}`]);
  return fitting([...bound(full), full, ...bound(short), ...bound(byHost), short, code]);
}

/** The words of a code for each purpose: in full, and the fewest that still say its effect. */
const FORMS: Readonly<Record<Purpose, readonly [string, string]>> = {
  registration: ['sms.code', 'sms.short'],
  recovery: ['sms.recovery', 'sms.recovery_short'],
  credential: ['sms.credential', 'sms.credential_short'],
};

/** The text of a notice in one segment: the first of its forms that fits. */
export function fittingText(say: Say, formsOf: (say: Say) => readonly string[]): string {
  return fitting(formsOf(plainly(say)));
}

/** Marks of typesetting are not in the GSM alphabet. */
function plainly(say: Say): Say {
  return (id, values) =>
    say(id, values)
      .replace(/[\u00a0\u202f]/g, ' ')
      .replaceAll('’', "'");
}

/** The first that is one segment; a link that is longer than that goes out as it is. */
function fitting(forms: readonly string[]): string {
  return forms.find(isOneSegment) ?? forms.at(-1) ?? '';
}
