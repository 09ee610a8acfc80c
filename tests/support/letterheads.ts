import type { Catalogue } from '../../client/catalogue.ts';
import { type CodeNotice, codeMessage, type Letterhead, smsText } from '../../lib/delivery/message.ts';
import { BUILT_IN } from '../../lib/words/languages.ts';
import { BRAND, wordsOf } from './brand.ts';

/** The letterhead of a vault at vault.example.com. */
export async function letterheadOf(language = 'en', brand: Partial<Letterhead['brand']> = {}): Promise<Letterhead> {
  const host = 'vault.example.com';
  return { brand: { ...BRAND, ...brand }, host, credentialSeconds: 86_400, language, ...(await wordsOf(language)) };
}

/** The letterheads of every language. */
export const letterheads: readonly Letterhead[] = await Promise.all(BUILT_IN.map((language) => letterheadOf(language)));

const PASS = 'https://vault.example.com/pass#m5d3k9ab-0123456789abcdef0123456789abcdef';
const ACCOUNT = '0x52908400098527886E0F7030069857D2E4169EE7';
const news = { account: ACCOUNT, readyAt: '2026-11-25T07:30:00.000Z', link: `https://vault.example.com/account#stop` };

/** One of every kind of message, by name. */
export const NOTICES: Readonly<Record<string, CodeNotice>> = {
  code: { code: '042137', lifetimeSeconds: 90 },
  'recovery code': { code: '042137', purpose: 'recovery', pass: PASS, lifetimeSeconds: 90 },
  'credential code': { code: '042137', purpose: 'credential', pass: PASS, lifetimeSeconds: 90 },
  'code and pass': { code: '042137', pass: PASS, lifetimeSeconds: 90 },
  pass: { pass: PASS, lifetimeSeconds: 90 },
  taken: { notice: 'taken_over', lifetimeSeconds: 0 },
  started: { recovery: { ...news, kind: 'started', status: 'proposed' }, lifetimeSeconds: 0 },
  running: { recovery: { ...news, kind: 'running', status: 'proposed' }, lifetimeSeconds: 0 },
  soon: { recovery: { ...news, kind: 'running', status: 'submitted', readyAt: null }, lifetimeSeconds: 0 },
  contact: { recovery: { ...news, kind: 'contact', status: '' }, lifetimeSeconds: 0 },
  ...Object.fromEntries(
    (['begun', 'soon', 'kept', 'released', 'replaced', 'moved', 'failed'] as const).map((status) => {
      const movesAt = status === 'begun' || status === 'soon' ? news.readyAt : null;
      const link = `https://vault.example.com/account${movesAt === null ? '' : `#keep=${PASS.split('#')[1]}`}`;
      const challenge = { status, address: 'a***@example.com', movesAt, link };
      return [`challenge ${status}`, { challenge, lifetimeSeconds: 0 } as const];
    }),
  ),
  ...Object.fromEntries(
    (['signin', 'registration'] as const).map((by) => {
      const passkey = { by, account: ACCOUNT, at: news.readyAt, link: 'https://vault.example.com/account' };
      return [`new passkey ${by}`, { passkey, lifetimeSeconds: 0 } as const];
    }),
  ),
  ...Object.fromEntries(
    ['finished', 'vetoed', 'cancelled', 'lapsed', 'failed', 'upgraded', 'stalled'].map((status) => [
      status,
      { recovery: { ...news, kind: 'ended', status }, lifetimeSeconds: 0 } as const,
    ]),
  ),
};

/** Whether a message is never sent to a number. */
export function isMailAlone({ recovery, passkey }: CodeNotice): boolean {
  return recovery !== undefined || passkey !== undefined;
}

/** The ids of the words that mails and text messages use. */
export async function usedIds(): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  const head = await letterheadOf('en', { support: 'help@example.com' });
  const words = new Proxy<Catalogue>(head.words, {
    get(target, id: string) {
      used.add(id);
      return target[id];
    },
  });
  for (const notice of Object.values(NOTICES)) {
    codeMessage(notice, { ...head, words });
    if (isMailAlone(notice)) continue;
    smsText(notice, { ...head, words });
    smsText(notice, { ...head, words, brand: { ...head.brand, name: '茶'.repeat(40) } });
  }
  return used;
}
