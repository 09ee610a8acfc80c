import { describe, expect, test } from 'bun:test';
import { codeMessage, createComposer, smsText } from '../../../lib/delivery/message.ts';

const notice = { code: '042137', service: 'vault.example.com', lifetimeSeconds: 90 };

describe('the mail', () => {
  test('states the code, the service and the lifetime, and that nobody will ask for it', () => {
    const { text, html } = codeMessage(notice);
    for (const part of [text, html]) {
      expect(part).toContain('042137');
      expect(part).toContain('is your code for vault.example.com. It works for 90 seconds.');
      expect(part).toContain('Nobody from vault.example.com will ever ask you for it.');
    }
  });

  test('starts with the code and keeps it out of the subject', () => {
    const { subject, text } = codeMessage(notice);
    expect(text).toStartWith('042137 ');
    expect(subject).toBe('Your code for vault.example.com');
  });

  test('ends its text in the origin-bound line', () => {
    expect(codeMessage(notice).text).toEndWith('\n\n@vault.example.com #042137\n');
  });

  test('holds the code once in its HTML, as one token', () => {
    const { html } = codeMessage(notice);
    expect(html.split('042137')).toHaveLength(2);
    expect(html).toMatch(/<h1 [^>]*user-select:all">042137<\/h1>/);
  });

  test('reads the same as text and as HTML', async () => {
    const { text, html } = codeMessage(notice);
    const shown: string[] = [];
    const body = new HTMLRewriter().on('body', { text: ({ text }) => void shown.push(text) });
    await body.transform(new Response(html)).text();
    const words = (all: string) => all.split(/\s+/).filter(Boolean);
    expect(words(shown.join(''))).toEqual(words(text.replace(/@\S+ #\d+\n$/, '')));
  });

  test('loads nothing, links nowhere and runs nothing', () => {
    const { html } = codeMessage(notice);
    expect(html).not.toMatch(/src=|href=|url\(|@import|https?:|<script|<img|<link|<a /i);
    expect(html.length).toBeLessThan(4096);
  });

  test('says its language and suits light and dark', () => {
    const { html } = codeMessage(notice);
    expect(html).toContain('<html lang="en" dir="ltr">');
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).toContain('prefers-color-scheme: dark');
  });

  test('escapes a service name', () => {
    const { html } = codeMessage({ ...notice, service: `<img src=x> & "Sons'` });
    expect(html).not.toContain('<img');
    expect(html).toContain('&#60;img src=x&#62; &#38; &#34;Sons&#39;');
  });
});

describe('the mail’s pass', () => {
  const pass = 'https://vault.example.com/pass#m5d3k9ab-0123456789abcdef0123456789abcdef';

  test('stands below the code, as its only link, in full; the text still ends in the origin-bound line', () => {
    const { text, html, subject } = codeMessage({ ...notice, pass });
    expect(subject).not.toContain('0123');
    expect(text).toStartWith('042137 ');
    expect(text).toEndWith(`\n\n${pass}\n\n@vault.example.com #042137\n`);
    expect(html.match(/<a /g)).toHaveLength(1);
    expect(html).toContain(`<a href="${pass}" style="color:#3146c8">${pass}</a>`);
    expect(html.indexOf('042137')).toBeLessThan(html.indexOf(pass));
    expect(html.length).toBeLessThan(4096);
  });

  test('is alone in the mail after too many wrong guesses, which says why and what to do', () => {
    const { text, html, subject } = codeMessage({ ...notice, code: undefined, pass });
    expect(subject).toBe('Ask again for your code for vault.example.com');
    for (const part of [text, html]) {
      expect(part).toContain(pass);
      expect(part).toContain('Somebody has entered many wrong codes for this address');
      expect(part).toContain('Nobody gets in without your mailbox.');
      expect(part).not.toMatch(/042137|<h1|@vault.example.com #/);
    }
  });

  test('is alone in the text message then, which is one segment', () => {
    const text = smsText({ ...notice, code: undefined, pass });
    expect(text).toBe(`To get a code for vault.example.com, open this and ask again: ${pass}`);
    expect(text.length).toBeLessThanOrEqual(160);
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
    expect(codeMessage({ ...notice, lifetimeSeconds }).text).toContain(`It works for ${words}.`);
  });
});

describe('the text message', () => {
  test('is one segment that ends in the origin-bound line', () => {
    const text = smsText({ ...notice, lifetimeSeconds: 600 });
    expect(text).toBe(
      '042137 is your code for vault.example.com. It works for 10 minutes. Nobody will ask you for it.\n\n@vault.example.com #042137',
    );
    expect(text.length).toBeLessThanOrEqual(160);
  });

  test('leaves the line out when it does not fit', () => {
    const service = `${'long-'.repeat(8)}name.example.com`;
    expect(smsText({ ...notice, service })).not.toContain('@');
  });

  test.each(['localhost', 'localhost:8787', 'vault.example.com:8443', '127.0.0.1', '[::1]:8787', 'Example Vault'])(
    'has no such line for %s, which is no domain',
    (service) => {
      expect(smsText({ ...notice, service })).not.toContain('@');
    },
  );
});

test('a mail is the same whether its words are composed for it or kept from another', () => {
  for (const service of ['vault.example.com', '127.0.0.1:3000', `<img src=x> & "Sons'`]) {
    const compose = createComposer(service);
    for (const round of [1, 2]) {
      for (const lifetimeSeconds of [90, 600]) {
        for (const code of [undefined, `04213${round}`, '<b>&$1']) {
          for (const pass of [undefined, `https://vault.example.com/pass#m5d3k9ab-${round}`, `https://a/?b&c='$&"`]) {
            const one = { code, pass, lifetimeSeconds };
            expect(compose(one)).toEqual(codeMessage({ ...one, service }));
          }
        }
        const taken = { notice: 'taken_over', lifetimeSeconds } as const;
        expect(compose(taken)).toEqual(codeMessage({ ...taken, service }));
      }
    }
  }
});
