import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { chromium } from '../../scripts/dev-stack/chromium.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { type AppWorld, signUp, startAppWorld } from '../support/client-app.ts';
import { otherCode } from '../support/digits.ts';
import { packageOfRun } from '../support/package.ts';
import { closeWindows, confirmWindow, findAccount, type Passkeys, press } from '../support/pay.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dir, '../..');
const FUNDS = { usdc: 12_500_000n, wei: 10n ** 18n };

describe.skipIf(!chromium)('an app, at a vault that relays', () => {
  let world: AppWorld;
  beforeAll(async () => {
    const more = { REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey, MAX_REGISTRATIONS_PER_IP: '100' };
    world = await startAppWorld(more, { pagesOnly: true });
  });
  afterAll(() => world.stop());
  afterEach(() => world.closePages());
  /** Approves what the confirm page shows at once: the client has named the payer. */
  const approve = async (passkeys: Passkeys) => press(await confirmWindow(world, passkeys), 'approve');
  const says = (page: Page, wanted: string) =>
    page.waitForFunction((text) => document.body.textContent?.includes(text), {}, wanted);

  test('of ten lines of its own registers a person, who enters five wrong codes first, and who pays', async () => {
    const html = await Bun.file(join(ROOT, 'examples/apps/plain.html')).text();
    const [, script = ''] = /<script type="module">\n([\s\S]*?)<\/script>/.exec(html) ?? [];
    expect(script.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(10);
    world.put('/plain', html);
    const { page, passkeys } = await world.open('/plain');
    const email = 'plain@example.com';
    const asked: string[] = [];
    const did = await signUp(world, page, email, (question) => {
      asked.push(question);
      const code = world.t.codeFor(email);
      return asked.length > 5 ? code : otherCode(code);
    });
    expect(did).toMatch(/^did:pkh:eip155:84532:0x[0-9a-fA-F]{40}$/);
    // It says that these were too many, and which code to enter.
    const enter = 'Enter the newest code that we mailed to you';
    const wrong = `Incorrect code. ${enter}`;
    expect(asked).toEqual([enter, wrong, wrong, wrong, wrong, `Too many attempts. ${enter}`]);
    expect(world.t.mailsTo(email)).toHaveLength(2);
    const [credentialId = ''] = passkeys.ids();
    // The page says so once a transaction carries it.
    const look = () => world.t.call('GET /api/dids/lookup', { credentialId });
    await until('it is confirmed', async () => (await look()).body.status === 'confirmed');
    expect((await look()).body).toMatchObject({ did, proven: true });
    await world.fund(did.slice(-42), FUNDS);
    // In a window: the shop's journey has the browser's own sheet.
    await page.evaluate('delete window.PaymentRequest');
    await page.click('#buy');
    await approve(passkeys);
    await says(page, 'paid');
  });

  test('in React registers a person, who signs in again and pays', async () => {
    await packageOfRun();
    const { outputs } = await Bun.build({
      entrypoints: [join(ROOT, 'examples/apps/react.tsx')],
      target: 'browser',
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    const script = (await outputs[0]?.text())?.replaceAll('</script', '<\\/script') ?? '';
    world.put(
      '/react',
      `<!doctype html><title>Tea shop</title><script type="module">${script}</script><body><div id="app"></div>`,
    );
    const { page, passkeys } = await world.open('/react');
    await page.type('input', 'react@example.com');
    await page.keyboard.press('Enter');
    await says(page, 'The code that we sent');
    // After a reload in the middle the address is there, and the code works still.
    await page.reload();
    await page.waitForFunction(() => document.querySelector('input')?.value === 'react@example.com');
    await page.focus('input');
    await page.keyboard.press('Enter');
    await says(page, 'The code that we sent to react@example.com');
    await press(page, 'cancel');
    await says(page, 'Nothing was registered');
    await page.focus('input');
    await page.keyboard.press('Enter');
    await says(page, 'The code that we sent');
    await page.type('input', otherCode(world.t.codeFor('react@example.com')));
    await page.keyboard.press('Enter');
    await says(page, 'Incorrect code');
    await page.type('input', world.t.codeFor('react@example.com'));
    await page.keyboard.press('Enter');
    await says(page, 'Confirmed');
    const did = await page.$eval('code', (element) => element.textContent ?? '');
    await page.reload();
    await press(page, 'sign-in');
    await says(page, did);
    await world.fund(did.slice(-42), FUNDS);
    await page.evaluate('delete window.PaymentRequest');
    await press(page, 'buy');
    await approve(passkeys);
    await says(page, 'Thank you');
  });

  test('goes on after a reload in the middle, and by popup and link gets its receipt', async () => {
    world.putBlank();
    const { page, passkeys } = await world.open('/blank');
    const { client } = world;
    await page.evaluate(
      `${client}.then((vault) => { vault.register({ email: 'reload@example.com', askCode: () => new Promise(() => {}) }); })`,
    );
    await page.waitForFunction(() => localStorage.length === 1);
    // The client keeps its state before it asks for the code: a reload here may cancel the request.
    await until('the code is sent', () => world.t.mailsTo('reload@example.com').length === 1);
    await page.reload();
    const code = world.t.codeFor('reload@example.com');
    const made = (await page.evaluate(
      `${client}.then((vault) => vault.register({ email: vault.pending().identifier, askCode: () => '${code}' })).then(async ({ did, confirmed }) => ({ did, status: (await confirmed).status }))`,
    )) as { did: string; status: string };
    expect(made.status).toBe('confirmed');
    expect(world.t.mailsTo('reload@example.com')).toHaveLength(1);
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
    await world.fund(made.did.slice(-42), FUNDS);
    const order = {
      id: crypto.randomUUID(),
      to: '0x00000000000000000000000000000000000a11ce',
      token: 'native',
      amount: '5',
    };
    // The example of docs/client.md, by a popup.
    const text = await Bun.file(join(ROOT, 'docs/client.md')).text();
    const [, example = ''] = /## pay and verifyPayment[\s\S]*?```js\n([\s\S]*?)```/.exec(text) ?? [];
    const popup = example.replace("value: '1.25' } }", "value: '1.25' } }, { via: 'popup' }");
    await page.evaluate(`${client}.then((vault) => {
        const order = ${JSON.stringify(order)};
        const tellYourServer = (id, receipt) => { window.told = { id, ...receipt }; };
        ${popup}
        window.ready = true;
      })`);
    await page.waitForFunction('window.ready');
    await page.click('#buy');
    // A new client knows nobody: the passkey is found, by one prompt since it is registered.
    const confirm = await confirmWindow(world, passkeys);
    await findAccount(confirm, 1);
    await press(confirm, 'approve');
    const told = (await (await page.waitForFunction('window.told')).jsonValue()) as object;
    expect(told).toMatchObject({
      id: order.id,
      account: made.did.slice(-42),
      txHash: expect.any(String),
    });
    // The same order by a link: its receipt comes back, and nobody pays again.
    await closeWindows(world);
    await page.evaluate(`${client}.then((vault) => {
        vault.pay({ ...${JSON.stringify(order)}, total: { currency: 'USD', value: '1.25' } }, { via: 'link' });
      })`);
    await page.waitForFunction(() => location.pathname === '/pay/confirm');
    await press(page, 'return');
    await page.waitForFunction(() => location.pathname === '/blank');
    const back = await page.evaluate(`${client}.then((vault) => [vault.returned(), vault.returned() ?? null])`);
    expect(back).toMatchObject([{ id: order.id, userOpHash: expect.any(String) }, null]);
  });

  test('hears the vault’s popup alone, and why it was closed', async () => {
    world.putBlank();
    const { page, passkeys } = await world.open('/blank');
    // The popup is ready before the client knows the vault's chain.
    await page.evaluate(`import('${world.origin}/client.js').then(({ createClient }) => {
        const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
        const slow = async (...asked) => wait(1500).then(() => fetch(...asked));
        const vault = createClient({ url: '${world.origin}', fetch: slow });
        const tea = { to: '0x00000000000000000000000000000000000a11ce', token: 'native', amount: '5' };
        const total = { currency: 'USD', value: '1.25' };
        buy.onclick = () => {
          window.told = undefined;
          vault.pay({ id: crypto.randomUUID(), ...tea, total }, { via: 'popup' }).then(
            (receipt) => { window.told = { receipt }; },
            ({ error }) => { window.told = { error }; },
          );
        };
        window.ready = true;
      })`);
    await page.waitForFunction('window.ready');
    const told = async () => (await page.waitForFunction('window.told')).jsonValue();
    await page.click('#buy');
    const confirm = await confirmWindow(world, passkeys);
    // The page itself, or any frame in it, can say anything.
    await page.evaluate(`postMessage({ vault: 'pay', type: 'answer', details: { userOpHash: '0xforged' } }, '*')`);
    await press(confirm, 'setup-cancel');
    expect(await told()).toEqual({ error: 'cancelled' });
    await closeWindows(world);
    await page.bringToFront();
    await page.click('#buy');
    await (await confirmWindow(world, passkeys)).close();
    expect(await told()).toEqual({ error: 'not_paid_yet' });
  });

  test('says that the page’s policy forbids what the client has to load, and goes on once it does not', async () => {
    world.putBlank();
    const { page } = await world.open('/blank');
    const registered = `${world.client}.then((vault) => vault.register({ handle: 'policy' }))`;
    const refused = await page.evaluate(`${registered}.catch(({ error, hint }) => ({ error, hint }))`);
    expect(refused).toMatchObject({ error: 'not_loaded', hint: expect.stringContaining('CSP') });
    world.putBlank(" 'wasm-unsafe-eval'");
    await page.reload();
    // By an operation of the account; client-operation.test.ts has all that may come between.
    const confirmed = await page.evaluate(`${registered}.then((made) => made.confirmed)`);
    expect(confirmed).toMatchObject({ channel: 'handle', proven: true, status: 'confirmed' });
  });

  test('says which RP ID the browser refuses', async () => {
    world.putBlank();
    const { page } = await world.open('/blank');
    await page.goto(`${world.shop.replace('localhost', '127.0.0.1')}/blank`);
    const error = await page.evaluate(
      `${world.client}.then((vault) => vault.signIn()).catch(({ error, hint }) => ({ error, hint }))`,
    );
    expect(error).toMatchObject({ error: 'rp_id_refused', hint: expect.stringContaining('RP_IDS') });
  });
});
