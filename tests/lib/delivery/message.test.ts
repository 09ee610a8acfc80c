import { describe, expect, test } from 'bun:test';
import { codeMessage, createComposer, smsText } from '../../../lib/delivery/message.ts';
import { letterheadOf, letterheads, NOTICES } from '../../support/letterheads.ts';

const head = await letterheadOf();
const notice = { code: '042137', lifetimeSeconds: 90 };

/** What a reader of HTML shows, a paragraph a line. */
async function shownOf(html: string): Promise<string[]> {
  const lines: string[] = [];
  const page = new HTMLRewriter()
    .on('body p, body h1', {
      element: () => void lines.push(''),
      text: ({ text }) => void lines.push((lines.pop() ?? '') + text),
    })
    .on('body hr', { element: () => void lines.push('———') });
  await page.transform(new Response(html)).text();
  return lines.map((line) =>
    line.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))).replaceAll('&amp;', '&'),
  );
}

describe.each(letterheads.map((one) => [one.language, one] as const))('mails in %s', (language, own) => {
  test.each(Object.keys(NOTICES))('%s: the same as text and as HTML, a sentence in one piece', async (kind) => {
    const given = NOTICES[kind] ?? notice;
    for (const support of [undefined, 'help@example.com']) {
      const { subject, text, html } = codeMessage(given, { ...own, brand: { ...own.brand, support } });
      const lines = text.trimEnd().split('\n\n');
      const [last = ''] = lines.slice(-1);
      const shown = last.startsWith('@') ? lines.slice(0, -1) : lines;
      expect(await shownOf(html)).toEqual(shown);
      expect(lines.every((line) => !line.includes('\n') && line.trim() === line && line !== '')).toBe(true);
      expect(shown.at(-1)?.includes('help@example.com')).toBe(support !== undefined);
      // No place without its value, and no id for want of words.
      expect(subject + text).not.toMatch(/[{}]|undefined|\b(?:code|pass|taken|pending|ended|contact)\.[a-z]+\b(?!\.)/);
      expect(html).toContain(`<html lang="${language}" dir="ltr">`);
      expect(Buffer.byteLength(html)).toBeLessThan(6 * 1024);
    }
  });

  test('the subject says for what and how long, and never the code', () => {
    const { subject } = codeMessage({ ...notice, pass: 'https://vault.example.com/pass#x-y' }, own);
    expect(subject).toContain('vault.example.com');
    expect(subject).toContain('90');
    expect(subject).not.toContain('042137');
  });
});

describe('the mail', () => {
  test('has brand, code, sentence and advice in this order, and the code alone on its line', () => {
    expect(codeMessage(notice, head).text.split('\n\n').slice(0, 5)).toEqual([
      'vault.example.com',
      '042137',
      'This code is to sign up at vault.example.com.',
      'Enter it within 90 seconds, where you asked for it.',
      'If you did not ask for it, ignore this mail. Nobody from vault.example.com asks for this code by phone, chat or mail.',
    ]);
    expect(codeMessage(notice, head).subject).toBe('Your code for vault.example.com: valid 90 seconds');
  });

  test('says what the code does and where it was asked, before how to use it', () => {
    const tea = { ...head, brand: { ...head.brand, name: 'Tea House', site: 'tea.example' } };
    const said = (['registration', 'recovery', 'credential'] as const).map((purpose) => {
      const { subject, text } = codeMessage({ ...notice, purpose }, tea);
      return [subject, text.split('\n\n')[2]];
    });
    expect(said).toEqual([
      ['Your code for Tea House: valid 90 seconds', 'This code is to sign up at Tea House (tea.example).'],
      [
        'Recover your account on Tea House: your code, valid 90 seconds',
        'This code is to recover your account on Tea House (tea.example): anyone who enters it can add a passkey to the account.',
      ],
      [
        'Show your address elsewhere: your code of Tea House, valid 90 seconds',
        'This code is to show this address elsewhere, for 1 day: anyone who enters it at Tea House (tea.example) can do that.',
      ],
    ]);
    const own = { ...head, brand: { ...head.brand, name: 'Tea House' } };
    expect(codeMessage(notice, own).text).toContain('sign up at Tea House (vault.example.com).');
  });

  test.each([
    ['en', 'Your code for Tea House: valid 90 seconds'],
    ['de', 'Ihr Code für Tea House: 90 Sekunden gültig'],
    ['fr', 'Votre code pour Tea House\u00a0: valable 90\u00a0secondes'],
    ['es', 'Su código para Tea House: válido durante 90 segundos'],
  ])('in %s has the subject %p', async (language, subject) => {
    expect(codeMessage(notice, await letterheadOf(language, { name: 'Tea House' })).subject).toBe(subject);
  });

  test.each([
    ['en', 43_200, 'elsewhere, for 12 hours: anyone who'],
    ['de', 43_200, 'diese Adresse 12 Stunden lang anderswo'],
    ['fr', 604_800, 'ailleurs, pendant 7\u00a0jours\u00a0: la'],
    ['es', 5_400, 'en otro sitio, durante 90 minutos: quien'],
  ])('in %s says how long others believe it: %i seconds', async (language, credentialSeconds, words) => {
    const own = { ...(await letterheadOf(language, { name: 'Tea House' })), credentialSeconds };
    const asked = { ...notice, purpose: 'credential' } as const;
    expect(codeMessage(asked, own).text).toContain(words);
    const [, time = ''] = /(\d+.[a-zA-Z]+)/.exec(words) ?? [];
    expect(smsText(asked, own)).toContain(time.replaceAll('\u00a0', ' '));
  });

  test.each([
    ['recovery', 'Récupérer votre compte chez Tea House\u00a0: votre code, valable 90\u00a0secondes'],
    ['credential', 'Présenter votre adresse ailleurs\u00a0: votre code de Tea House, valable 90\u00a0secondes'],
  ] as const)(
    'to %s has its own subject in French, with a no-break space before the colon',
    async (purpose, subject) => {
      const french = await letterheadOf('fr', { name: 'Tea House' });
      expect(codeMessage({ ...notice, purpose }, french).subject).toBe(subject);
    },
  );

  test('ends its text in the origin-bound line, of the host and not of the brand', async () => {
    expect(codeMessage(notice, head).text).toEndWith('\n\n@vault.example.com #042137\n');
    const tea = await letterheadOf('de', { name: 'tea.example', support: 'help@tea.example' });
    expect(codeMessage(notice, tea).text).toEndWith(
      '\n\n———\n\nFragen? Schreiben Sie an help@tea.example.\n\n@vault.example.com #042137\n',
    );
  });

  test('holds the code once in its HTML, as one token of 32 pixels, from left to right', () => {
    const { html } = codeMessage(notice, head);
    expect(html.split('042137')).toHaveLength(2);
    expect(html).toMatch(
      /<td class="code" dir="ltr" [^>]*bgcolor="#f5f6fa"[^>]*font:600 32px[^>]*><p [^>]*user-select:all">042137<\/p><\/td>/,
    );
  });

  test('is 560 pixels wide, in Outlook for Windows too', () => {
    const { html } = codeMessage(notice, head);
    expect(html).toMatch(/<!--\[if mso\]><table [^>]*width="560"[^>]*><tr><td><!\[endif\]-->\n<table class="card"/);
    expect(html).toContain('</table>\n<!--[if mso]></td></tr></table><![endif]-->');
    expect(html).toContain('max-width:560px');
  });

  test('says font, size, language and background where mail programs look for them', () => {
    const { html } = codeMessage(notice, head);
    expect(html).toMatch(
      /<td class="card" [^>]*color:#12162b;font-family:'Segoe UI',[^>]*font-size:15px;line-height:22px/,
    );
    expect(html).toMatch(/<table class="card" [^>]*align="center" bgcolor="#ffffff" lang="en" dir="ltr"/);
    expect(html).toContain('<meta name="supported-color-schemes" content="light dark">');
    expect(html).toMatch(/\[data-ogsc\] \.card \{/);
    expect(html).not.toMatch(/font-family:(?:system-ui|ui-monospace)|font:[^;"]*px (?:system-ui|ui-monospace)/);
  });

  test('loads nothing, links nowhere and runs nothing', () => {
    const { html } = codeMessage(notice, head);
    expect(html).not.toMatch(/src=|href=|url\(|@import|https?:|<script|<img|<link|<a /i);
  });

  test('suits light and dark, in the brand’s colours', async () => {
    const own = await letterheadOf('en', { color: { light: '#0a6b48', dark: '#57d9a3' } });
    const { html } = codeMessage({ ...notice, pass: 'https://vault.example.com/pass#x-y' }, own);
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).toContain('prefers-color-scheme: dark');
    expect(html).toContain('a { color: #57d9a3 !important; }');
    expect(html).toContain('style="color:#0a6b48"');
    expect(html).not.toContain('#3146c8');
  });

  test('escapes a brand', async () => {
    const { html } = codeMessage(notice, await letterheadOf('en', { name: `<img src=x> & "Sons'` }));
    expect(html).not.toContain('<img');
    expect(html).toContain('&#60;img src=x&#62; &#38; &#34;Sons&#39;');
  });

  test('of a language from right to left is laid out so', () => {
    const { html } = codeMessage(notice, { ...head, language: 'ar', direction: 'rtl' });
    expect(html).toContain('<html lang="ar" dir="rtl">');
    expect(html).toMatch(/<td class="card" align="right"/);
  });

  test('of such a language keeps values in order: addresses, numbers, the brand; not in its subject', () => {
    const rtl = { ...head, language: 'he', direction: 'rtl' } as const;
    const { subject, text } = codeMessage(notice, { ...rtl, brand: { ...head.brand, support: '+49 151 12345678' } });
    expect(text).toContain('Write to \u2068+49 151 12345678\u2069.');
    expect(subject).not.toMatch(/[\u2068\u2069]/);
    expect(smsText(notice, rtl)).not.toMatch(/[\u2068\u2069]/);
    expect(codeMessage(notice, head).text).not.toMatch(/[\u2068\u2069]/);
  });

  test('of such a language says what is English there, and keeps it in order', () => {
    const rtl = { ...head, language: 'he', direction: 'rtl', english: Object.keys(head.words) } as const;
    const { subject, text, html } = codeMessage(notice, rtl);
    expect(text).toContain('\u2066Enter it within \u206890 seconds\u2069, where you asked for it.\u2069');
    expect(html).toContain(
      '<span lang="en" dir="ltr">Enter it within \u206890 seconds\u2069, where you asked for it.</span>',
    );
    expect(subject + smsText(notice, rtl)).not.toMatch(/[\u2066-\u2069]/);
    expect(codeMessage(notice, { ...rtl, english: ['code.ignore'] }).html.match(/lang="en"/g)).toHaveLength(1);
  });
});

describe('the mail’s pass', () => {
  const pass = 'https://vault.example.com/pass#m5d3k9ab-0123456789abcdef0123456789abcdef';

  test('stands below a line, as its only link, in full; the text still ends in the origin-bound line', () => {
    const { text, html, subject } = codeMessage({ ...notice, pass }, head);
    expect(subject).not.toContain('0123');
    expect(text).toEndWith(`ask again:\n\n${pass}\n\n@vault.example.com #042137\n`);
    expect(html.match(/<a /g)).toHaveLength(1);
    expect(html).toContain(`<a href="${pass}" style="color:#3146c8">${pass}</a>`);
    expect(html.indexOf('042137')).toBeLessThan(html.indexOf('<hr'));
    expect(html.indexOf('<hr')).toBeLessThan(html.indexOf(pass));
  });

  test('is alone in the mail after too many wrong guesses, which says why and what to do', () => {
    const { text, html, subject } = codeMessage({ ...notice, code: undefined, pass }, head);
    expect(subject).toBe('Ask again for your code for vault.example.com');
    for (const part of [text, html]) {
      expect(part).toContain(pass);
      expect(part).toContain('Somebody has entered many wrong codes for this address');
      expect(part).toContain('Nobody gets in without your mailbox.');
      expect(part).not.toMatch(/042137|class="code"|@vault.example.com #/);
    }
  });
});

describe('a lifetime', () => {
  test.each([
    [1, '1 second'],
    [59, '59 seconds'],
    [60, '1 minute'],
    [90, '90 seconds'],
    [600, '10 minutes'],
  ])('of %i seconds reads "%s"', (lifetimeSeconds, words) => {
    expect(codeMessage({ ...notice, lifetimeSeconds }, head).text).toContain(`Enter it within ${words}, where`);
  });
});

test.each([
  ['en', 'From 25 November 2026 at 07:30 UTC on,'],
  ['de', 'Ab dem 25. November 2026 um 07:30 UTC kann'],
  ['fr', 'À partir du 25 novembre 2026 à 07:30 UTC, la nouvelle clé'],
  ['es', 'A partir del 25 de noviembre de 2026 a las 7:30 UTC, la nueva llave'],
])('a time in %s is written as the language does', async (language, words) => {
  const { text } = codeMessage(NOTICES['running'] ?? notice, await letterheadOf(language));
  expect(text.replace(/[\u00a0\u202f]/g, ' ')).toContain(words);
});

test('a mail is the same whether its words are composed for it or kept from another', async () => {
  for (const name of ['vault.example.com', `<img src=x> & "Sons'`]) {
    const own = await letterheadOf('fr', { name });
    const compose = createComposer(own);
    for (const round of [1, 2]) {
      for (const lifetimeSeconds of [90, 600]) {
        for (const code of [undefined, `04213${round}`, '<b>&$1']) {
          for (const pass of [undefined, `https://vault.example.com/pass#m5d3k9ab-${round}`, `https://a/?b&c='$&"`]) {
            const one = { code, pass, lifetimeSeconds };
            expect(compose(one)).toEqual(codeMessage(one, own));
          }
        }
        const taken = { notice: 'taken_over', lifetimeSeconds } as const;
        expect(compose(taken)).toEqual(codeMessage(taken, own));
      }
    }
  }
});
