// The shop and the inbox of `npm start`, around a vault of a test's own, and a browser with passkeys in software.
import type { BrowserContext, Page } from 'puppeteer-core';
import { smtpMailer } from '../../commands/mail/smtp.ts';
import { type Inbox, startInbox } from '../../scripts/dev-stack/inbox.ts';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { type Shop, startShop } from '../../scripts/dev-stack/shop.ts';
import { type SmsProvider, smsVars, startSmsProvider } from '../../scripts/dev-stack/sms.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { keepWorking } from './background.ts';
import type { clientsFile } from './openid.ts';
import { confirmWindow, createPasskeys, type Passkeys, type PayWorld, press, startPayWorld } from './pay.ts';

/** It all; the vault's background work goes on by itself. */
export interface ShopWorld extends Omit<PayWorld, 'shop' | 'pages'> {
  readonly mail: MailCatcher;
  readonly sms: SmsProvider;
  readonly inbox: Inbox;
  readonly shop: Shop;
  /** Opens the shop, or another page, in a browser that has nothing stored, or in one that has. */
  come(stored?: Partial<Pick<Customer, 'passkeys' | 'context'>>, url?: string): Promise<Customer>;
  /** Somebody who has signed up at the shop and has test money: the same person each time, in a tab of their own. */
  comeWithMoney(): Promise<Customer>;
  /** Presses Pay, and signs in the vault's window. */
  pay(customer: Customer): Promise<Page>;
  /** Closes their browsers, of who has money the tabs alone, and sets chain and bundler right. */
  leave(): Promise<void>;
}

/** Somebody's browser at a page. */
export interface Customer {
  readonly page: Page;
  readonly passkeys: Passkeys;
  readonly context: BrowserContext;
  /** What errors of scripts and policies the page had. */
  readonly faults: readonly string[];
}

const WORK_MS = 200;

let people = 0;
/** The address of somebody new. */
export const address = (): string => `customer${++people}@example.com`;

/** Starts it, with settings of the vault. */
export async function startShopWorld(
  more: Readonly<Record<string, string>> = {},
  host: Partial<ReturnType<typeof clientsFile>> & Pick<Parameters<typeof startPayWorld>[0] & object, 'pagesOnly'> = {},
): Promise<ShopWorld> {
  const [mail, sms] = [await startMailCatcher(), await startSmsProvider()];
  const mailer = smtpMailer(mail.url);
  const world = await startPayWorld({
    ...host,
    mail: mailer,
    more: {
      REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'Vault <vault@localhost.test>',
      SMTP_URL: mail.url,
      EXPLORER_URL: 'none',
      ...smsVars(sms.url),
      MAX_VERIFY_SENDS_PER_IP: '1000',
      MAX_REGISTRATIONS_PER_IP: '1000',
      RELAY_DAILY_MAX: '1000000',
      ...more,
    },
  });
  const inbox = await startInbox({ read: () => [...mail.messages, ...sms.messages] });
  const shop = await startShop({ vault: world.origin, rpc: world.chain.rpc, inbox: inbox.url });
  inbox.lead({ shop: shop.url, vault: world.origin });
  const endWork = keepWorking(world.t, WORK_MS);
  const customers: Customer[] = [];
  /** The browser of who has money. */
  let rich: Pick<Customer, 'context' | 'passkeys'> | undefined;
  const come: ShopWorld['come'] = async (stored, url = shop.url) => {
    const customer = await visit(world, url, stored);
    customers.push(customer);
    return customer;
  };
  return {
    ...world,
    mail,
    sms,
    inbox,
    shop,
    come,
    async comeWithMoney() {
      const customer = await come(rich);
      if (!rich) {
        await signUp({ mail }, customer.page, address());
        await press(customer.page, 'money-go');
        rich = customer;
      }
      await screen(customer.page, 'pay');
      return customer;
    },
    async pay({ page, passkeys }) {
      await press(page, 'pay-go');
      const confirm = await confirmWindow(world, passkeys);
      await press(confirm, 'approve');
      return confirm;
    },
    async leave() {
      world.upstream.set();
      await world.chain.rpc('evm_setAutomine', [true]);
      for (const { context } of customers.splice(0)) {
        if (context !== rich?.context) await context.close();
        else for (const page of await context.pages()) await page.close();
      }
    },
    async stop() {
      await endWork();
      await Promise.all([shop.stop(), inbox.stop()]);
      await world.stop();
      mailer.close();
      await Promise.all([mail.stop(), sms.stop()]);
    },
  };
}

async function visit(
  { own }: PayWorld,
  url: string,
  stored?: Partial<Pick<Customer, 'passkeys' | 'context'>>,
): Promise<Customer> {
  const context = stored?.context ?? (await own.browser.createBrowserContext());
  const passkeys = stored?.passkeys ?? createPasskeys();
  const page = await context.newPage();
  await passkeys.attach(page);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) faults.push(message.text());
  });
  await page.goto(url);
  return { page, passkeys, context, faults };
}

/** What a screen of the shop reads, once it is there. */
export async function screen(page: Page, part: string): Promise<string> {
  await page.waitForSelector(`#${part}`, { visible: true }).catch(async (cause) => {
    // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
    throw new Error(`no ${part} in: ${await page.evaluate(() => document.body.innerText)}`, { cause });
  });
  // biome-ignore lint/performance/useDomNodeTextContent: only what can be seen counts.
  return page.$eval(`#${part}`, (element) => (element as HTMLElement).innerText);
}

/** Sends an address from the first screen. */
export async function sendAddress(page: Page, address: string): Promise<void> {
  await screen(page, 'start');
  await page.click('#who', { count: 3 });
  // At one stroke, as a paste does it.
  await page.keyboard.sendCharacter(address);
  await page.keyboard.press('Enter');
}

/** Signs up with the code of the mail, and waits for the faucet. */
async function signUp({ mail }: Pick<ShopWorld, 'mail'>, page: Page, address: string): Promise<void> {
  await sendAddress(page, address);
  await screen(page, 'code');
  const [code = ''] = /\b\d{6}\b/.exec((await mail.waitFor(address)).text) ?? [];
  await page.type('#digits', code);
  await screen(page, 'money');
}
