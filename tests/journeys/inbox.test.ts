import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'puppeteer-core';
import { mailHtml } from '../../lib/delivery/message-page.ts';
import { type OwnBrowser, startShell } from '../../scripts/dev-stack/browser.ts';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { type Inbox, startInbox } from '../../scripts/dev-stack/inbox.ts';
import { createMailbox, type Message } from '../../scripts/dev-stack/mailbox.ts';
import { spoken } from '../support/accessible.ts';
import { violations } from '../support/axe.ts';
import { waitLimitMs } from '../support/limits.ts';
import { layLine } from '../support/line.ts';
import { untilHolds } from '../support/until.ts';

type Mail = Message & { readonly from: string; readonly html: string };

const mailOf = (code: string, change: Partial<Mail> = {}): Mail => ({
  from: 'vault@example.com',
  to: ['alice@example.com'],
  subject: `Your code ${code.slice(0, 2)}`,
  text: `${code}\n\nEnter it.`,
  html: `<!doctype html><html><head></head><body><p id="digits">${code}</p></body></html>`,
  ...change,
});

describe.skipIf(!chromium)('in Chromium', () => {
  let own: OwnBrowser;
  let mails: ReturnType<typeof createMailbox<Mail>>;
  let texts: ReturnType<typeof createMailbox<Message>>;
  let inbox: Inbox;
  let page: Page;
  const faults: string[] = [];
  const other = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => void asked.push(request.url) as never,
  });
  const asked: string[] = [];
  beforeAll(async () => {
    own = await startShell();
    page = await own.browser.newPage();
    page.on('pageerror', (error) => faults.push(String(error)));
  });
  afterAll(async () => {
    await own.close();
    await other.stop(true);
  });
  afterEach(async () => {
    // What comes of the inbox's end is no fault of the page.
    await page.goto('about:blank');
    await inbox.stop();
    faults.length = 0;
    asked.length = 0;
  });
  /** The one page of this file comes to an inbox of the test's own: another origin, where nothing is stored yet. */
  const open = async (width = 1000) => {
    [mails, texts] = [createMailbox<Mail>(), createMailbox<Message>()];
    inbox = await startInbox({ read: () => [...mails.messages, ...texts.messages] });
    inbox.lead({ shop: 'http://localhost:8090', vault: 'http://localhost:8787' });
    const permissions = ['clipboard-read', 'clipboard-sanitized-write'] as const;
    await page.browserContext().overridePermissions(inbox.url, [...permissions]);
    await page.emulateMediaFeatures();
    await page.setViewport({ width, height: 800 });
    await page.goto(inbox.url);
  };
  const sees = (text: string) =>
    // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
    page.waitForFunction((wanted) => document.body.innerText.includes(wanted), {}, text);
  /** What can be seen of an element; nothing where it is hidden. */
  const seen = (selector: string) =>
    // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
    page.$eval(selector, (part) => (part.checkVisibility() ? (part as HTMLElement).innerText.trim() : ''));
  /** Waits until the frame shows a mail of this text. */
  const framed = (text: string) =>
    untilHolds(async () =>
      expect(await page.$eval('iframe', (frame) => frame.contentDocument?.body?.textContent?.trim())).toBe(text),
    );
  /** Looks with each change of the page, and so misses none that is taken back. */
  const MUTATION = { polling: 'mutation' } as const;
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  const rows = () => page.$$eval('#list a', (links) => links.map((link) => link.textContent ?? ''));

  describe('the inbox', () => {
    test('says how to get a first message, and shows it when it comes', async () => {
      await open();
      await sees('Nothing has arrived yet');
      expect(await page.$eval('#way-shop', (link) => link.getAttribute('href'))).toBe('http://localhost:8090');
      mails.add(mailOf('123456'));
      await sees('Your code 12');
      await untilHolds(async () => expect(await seen('#empty')).toBe(''));
      await framed('123456');
      expect(faults).toEqual([]);
    });

    test('shows the newest first, SMS beside mails, and says what came', async () => {
      await open();
      mails.add(mailOf('111111'));
      await sees('Your code 11');
      texts.add({ to: ['+14155550100'], subject: 'SMS', text: 'Your verification code is: 222222' });
      await sees('222222');
      mails.add(mailOf('333333', { to: ['bob@example.com'] }));
      await sees('Your code 33');
      const [first, second, third] = await rows();
      expect([first, second, third].map((row) => /Mail|SMS/.exec(row ?? '')?.[0])).toEqual(['Mail', 'SMS', 'Mail']);
      expect(first).toContain('bob@example.com');
      await page.waitForFunction(
        () => document.getElementById('status')?.textContent === 'New mail to bob@example.com',
      );
      // A row opens its message: the text of an SMS, which has no HTML. The row has that text as well.
      await page.click('#list li:nth-child(2) a');
      await untilHolds(async () =>
        expect([await seen('#text'), await seen('#views')]).toEqual(['Your verification code is: 222222', '']),
      );
    });

    test('copies the code by one press: in the list, and in the message', async () => {
      await open();
      mails.add(mailOf('111111'));
      mails.add(mailOf('222222'));
      await sees('Your code 22');
      await page.click('#list li:nth-child(2) button');
      await page.waitForFunction(() => document.getElementById('status')?.textContent === 'Copied 111111');
      expect(await clipboard()).toBe('111111');
      // It says so for a moment only: who looks from then on may come too late.
      const said = page.waitForFunction(() => document.getElementById('copy')?.textContent === 'Copied', MUTATION);
      await page.click('#copy');
      await said;
      expect(await clipboard()).toBe('222222');
      await page.waitForFunction(() => document.getElementById('copy')?.textContent === 'Copy 222222');
    });

    test('works by keyboard: arrows, Enter, C; and no key elsewhere does anything', async () => {
      await open();
      for (const code of ['111111', '222222', '333333']) mails.add(mailOf(code));
      await sees('Your code 33');
      await page.keyboard.press('c');
      expect(await page.$eval('#status', (part) => part.textContent)).not.toContain('Copied');
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('c');
      await page.waitForFunction(() => document.getElementById('status')?.textContent === 'Copied 222222');
      expect(await clipboard()).toBe('222222');
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await untilHolds(async () => {
        expect(await seen('#copy')).toBe('Copy 111111');
        expect(await page.evaluate(() => document.activeElement?.id)).toBe('reader');
      });
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => document.getElementById('status')?.textContent === 'Copied 111111');
    });

    test('has the plain text of a mail, and keeps that view for the next', async () => {
      await open();
      mails.add(mailOf('111111', { text: 'The text\n111111' }));
      await sees('Plain text');
      await page.click('#view-text');
      await sees('The text\n111111');
      await untilHolds(async () => expect(await seen('iframe')).toBe(''));
      mails.add(mailOf('222222', { text: 'Another text\n222222' }));
      await sees('Another text\n222222');
      await page.click('#view-html');
      await framed('222222');
    });

    test('a mail that attacks runs nothing, asks nobody and leads the page nowhere', async () => {
      await open();
      const evil = `http://127.0.0.1:${other.port}`;
      const html = `<!doctype html><html><head>
        <meta http-equiv="refresh" content="0;url=${evil}/refresh"><base href="${evil}/"><link rel="stylesheet" href="${evil}/css">
        <script>parent.document.title = 'taken'</script></head><body onload="parent.document.title = 'taken'">
        <style>body { background: url(${evil}/background) } @import url(${evil}/import)</style>
        <p id="here">Hello</p><img src="${evil}/pixel" onerror="parent.document.title = 'taken'"><svg onload="top.document.title='taken'"></svg>
        <iframe src="${evil}/frame"></iframe><object data="${evil}/object"></object><video src="${evil}/video" autoplay></video>
        <form id="form" action="${evil}/form" target="_top"><button id="send">Send</button></form>
        <a id="script" href="javascript:top.document.title='taken'">Script</a><a id="top" href="${evil}/top" target="_top">Top</a>
        </body></html>`;
      mails.add(mailOf('666666', { subject: '<img src=x onerror="document.title=\'taken\'">', html }));
      await sees('<img src=x');
      const frame = await (await page.waitForSelector('iframe'))?.contentFrame();
      await frame?.waitForSelector('#here');
      for (const id of ['#send', '#script', '#top']) await frame?.click(id);
      // The page goes on with its work, in which what was pressed would have come about.
      for (let looks = 0; looks < 2; looks++)
        await page.waitForRequest((request) => request.url().includes('/messages?after='));
      expect(await page.title()).toBe('Inbox');
      expect(page.url()).toStartWith(inbox.url);
      expect(asked).toEqual([]);
      expect(page.frames().filter((one) => one.url().startsWith(evil))).toEqual([]);
    });

    test('a link of a mail opens a tab that cannot reach the inbox', async () => {
      await open();
      mails.add(mailOf('111111', { html: '<p><a id="pass" href="http://localhost:1/pass">Get another</a></p>' }));
      await sees('Your code 11');
      const frame = await (await page.waitForSelector('iframe'))?.contentFrame();
      await frame?.waitForSelector('#pass');
      const target = page
        .browserContext()
        .waitForTarget((one) => one.url().includes('localhost:1'), { timeout: waitLimitMs() });
      await frame?.click('#pass');
      const opened = await (await target).page();
      expect(await opened?.evaluate(() => window.opener)).toBeNull();
      expect(page.url()).toStartWith(inbox.url);
      await opened?.close();
      await page.bringToFront();
    });

    test('says when it is away, and goes on by itself', async () => {
      await open();
      const line = await layLine(inbox.url);
      await page.goto(line.url);
      mails.add(mailOf('111111'));
      await sees('Your code 11');
      line.cut();
      await sees('The inbox does not answer. Is npm start still running?');
      line.mend();
      mails.add(mailOf('222222'));
      await sees('Your code 22');
      await untilHolds(async () => expect(await seen('#away')).toBe(''));
      await line.stop();
    });

    test('on a phone shows the list, then the message and a way back, without a scroll to the side', async () => {
      await open(320);
      mails.add(mailOf('111111', { to: [`${'a'.repeat(60)}@${'b'.repeat(60)}.example.com`] }));
      mails.add(mailOf('222222', { subject: 'x'.repeat(300) }));
      await sees('111111');
      const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(await wide()).toBeLessThanOrEqual(0);
      expect(await page.$eval('#reader', (part) => part.checkVisibility())).toBe(false);
      await page.click('#list li:nth-child(2) a');
      await sees('All messages');
      expect(await wide()).toBeLessThanOrEqual(0);
      expect(await page.$eval('#nav', (part) => part.checkVisibility())).toBe(false);
      await page.click('#back');
      await page.waitForFunction(() => document.getElementById('nav')?.checkVisibility());
    });

    test('a mail that names an account is as wide as a phone', async () => {
      await open(320);
      const text = `The recovery is over: the new passkey is a key of your account 0x${'4d'.repeat(20)}.`;
      const parts = [{ kind: 'text', text }] as const;
      const colors = { light: '#3146c8', dark: '#96a5ff' };
      const html = mailHtml({ subject: 'Over', brand: 'Tea', language: 'en', direction: 'ltr', colors, parts });
      mails.add(mailOf('111111', { html }));
      await sees('111111');
      await page.click('#list li a');
      const frame = await (await page.waitForSelector('iframe', { visible: true }))?.contentFrame();
      await frame?.waitForSelector('.card p');
      expect(await frame?.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });

    test('can be read in light and dark, and by a screen reader', async () => {
      await open();
      await sees('Nothing has arrived yet');
      expect(await violations(page)).toEqual([]);
      mails.add(mailOf('111111'));
      texts.add({ to: ['+14155550100'], subject: 'SMS', text: 'Your verification code is: 222222' });
      await sees('222222');
      expect(await violations(page)).toEqual([]);
      await untilHolds(async () => {
        const names = await spoken(page);
        expect(names).toContain('button: Copy 222222');
        expect(names).toContain('navigation: Messages');
        expect(names.some((name) => name.startsWith('heading: SMS'))).toBe(true);
      });
    });
  });
});
