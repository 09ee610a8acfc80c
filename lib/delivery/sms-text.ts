import type { Say } from './recovery-message.ts';

/** The GSM 7-bit alphabet (3GPP TS 23.038) and its extension, whose characters count twice. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENDED = '^{}\\[~]|€';

/** The units of one segment in each alphabet. */
const GSM_UNITS_MAX = 160;
const UCS2_UNITS_MAX = 70;

/** Whether a text is one segment: 160 units of the GSM 7-bit alphabet, or 70 of UCS-2 if any character needs that. */
export function isOneSegment(text: string): boolean {
  let units = 0;
  for (const char of text) {
    if (EXTENDED.includes(char)) units += 2;
    else if (BASIC.includes(char)) units += 1;
    else return text.length <= UCS2_UNITS_MAX;
  }
  return units <= GSM_UNITS_MAX;
}

/** What a text message carries. */
export interface SmsNotice {
  readonly code?: string | undefined;
  readonly pass?: string | undefined;
  readonly isTaken: boolean;
  /** The origin-bound line of the code; absent where the host can have none. */
  readonly boundLine?: string | undefined;
  readonly lifetime: string;
  /** Stands for a brand whose letters take too much room. */
  readonly host: string;
}

/**
 * The text of the SMS, in one segment: the fullest of its forms that fits. With a code it ends in the origin-bound line
 * if there is room.
 */
export function smsOf({ code, pass, isTaken, boundLine, lifetime, host }: SmsNotice, say: Say): string {
  const plain: Say = (id, values) =>
    say(id, values)
      .replace(/[\u00a0\u202f]/g, ' ')
      .replaceAll('’', "'");
  if (isTaken) return fitting([plain('sms.taken'), plain('sms.taken', { brand: host }), plain('sms.lost')]);
  if (code === undefined)
    return fitting([
      plain('sms.pass', { pass: pass ?? '' }),
      plain('sms.pass', { pass: pass ?? '', brand: host }),
      pass ?? '',
    ]);
  const forms = [plain('sms.code', { code, lifetime }), plain('sms.short', { code })];
  const bound = boundLine === undefined ? [] : forms.map((form) => `${form}\n\n${boundLine}`);
  const [full = '', short = ''] = forms;
  return fitting([...bound.slice(0, 1), full, ...bound.slice(1), short, code]);
}

/** The first that is one segment; a link that is longer than that goes out as it is. */
function fitting(forms: readonly string[]): string {
  return forms.find(isOneSegment) ?? forms.at(-1) ?? '';
}
