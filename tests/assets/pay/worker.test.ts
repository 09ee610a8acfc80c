import { beforeEach, describe, expect, test } from 'bun:test';
import { openPayPages, orderOf, type PayPages, type Person, SHOP } from '../../support/pay-page/pages.ts';
import type { RecordedVault } from '../../support/pay-page/vault.ts';
import type { PaymentAsked, PayWorker } from '../../support/pay-page/worker.ts';

const METHOD = 'https://vault.example/pay';

let pages: PayPages;
let vault: RecordedVault;
let person: Person;
let worker: PayWorker;
beforeEach(async () => {
  pages = await openPayPages();
  ({ vault } = pages);
  person = await pages.person();
  worker = await pages.worker();
});

/** A shop asks; the window that the browser opens for it, and what the shop is told. */
async function ask(more: Partial<PaymentAsked> = {}) {
  const { id, data } = orderOf();
  const { line, told } = await worker.request({ id, methods: [{ supportedMethods: METHOD, data }], ...more });
  return { told, query: line.query, window: pages.open(person.device, line) };
}
const wordsOf = (told: unknown) => (told instanceof Error ? told.message : told);
const isSent = () => vault.sent.length > 0;

test('it can always pay: a shop learns nothing of the person before approval', async () => {
  expect(await worker.canPay()).toBe(true);
});

describe('an answer', () => {
  test('has the identifier that was asked for, and these members', async () => {
    const supportedMethods = 'https://vault.example/.well-known/payment-method-manifest';
    const { told, window } = await ask({ methods: [{ supportedMethods, data: orderOf().data }] });
    expect(await window.shows('review')).toContain('Pay 0.001 ETH');
    expect(told()).toBeUndefined();
    await window.press('approve');
    await window.shows('done');
    const { account } = person;
    const details = { userOpHash: vault.sent[0]?.userOpHash, chainId: 84532, account, token: 'native' };
    expect(told()).toEqual({ methodName: supportedMethods, details: { ...details, txHash: expect.any(String) } });
  });

  test('of two identifiers with the same data is that of the first; with other data nothing is paid', async () => {
    const [one, other] = [orderOf().data, orderOf().data];
    const both = (data: unknown) => ({
      methods: [
        { supportedMethods: METHOD, data: one },
        { supportedMethods: `${METHOD}/`, data },
      ],
    });
    expect(await (await ask(both(other))).window.shows('problem')).toContain('it asks for several payments at once');
    const { told, window } = await ask(both({ ...one }));
    await window.press('approve');
    await window.shows('done');
    expect(told()).toMatchObject({ methodName: METHOD });
  });
});

test('a request from a frame is shown as that, with both origins, and the button names the frame', async () => {
  const { window } = await ask({ frame: 'https://ads.example' });
  const text = await window.shows('review');
  expect(text).toContain('Requested by shop.example, in a frame of ads.example');
  expect(text).toContain('The request comes from ads.example, embedded in a page of shop.example.');
  expect(window.text('approve')).toBe('Pay 0.001 ETH to ads.example');
});

describe('a request ends', () => {
  test('by the person, who cancels', async () => {
    const { told, window } = await ask();
    await window.shows('review');
    await window.press('cancel');
    expect([wordsOf(told()), window.isOpen(), isSent()]).toEqual(['The payment was cancelled', false, false]);
  });

  test('by the shop, which takes it back', async () => {
    const { told, window } = await ask();
    await window.shows('review');
    expect(await worker.abort()).toBe(true);
    expect(await window.shows('problem')).toContain('The shop withdrew its request\nNothing was paid.');
    expect([wordsOf(told()), isSent()]).toEqual(['The payment request was aborted', false]);
  });

  test('not by the shop once the signature is on its way', async () => {
    vault.shows = 'open';
    const { told, window } = await ask();
    await window.press('approve');
    await window.awaitsBlock();
    expect(await worker.abort()).toBe(false);
    vault.shows = undefined;
    await window.shows('done');
    expect(told()).toMatchObject({ details: { account: person.account } });
  });

  test('not by the shop where there are two: the browser does not say which', async () => {
    const [one, other] = [await ask(), await ask()];
    await Promise.all([one.window.shows('review'), other.window.shows('review')]);
    expect(await worker.abort()).toBe(false);
    // The window of one was closed, of which no event tells.
    one.window.close();
    expect(await worker.abort()).toBe(true);
    expect(wordsOf(other.told())).toBe('The payment request was aborted');
  });

  test('by its time: that of the shop, and four minutes at most', async () => {
    for (const [minutes, expires] of [
      [2, 3],
      [4, 60],
    ] as const) {
      const end = new Date(pages.time.now() + expires * 60_000).toISOString();
      const { told } = await ask({
        methods: [{ supportedMethods: METHOD, data: { ...orderOf().data, expires: end } }],
      });
      await pages.minutes(minutes - 0.1);
      expect(told()).toBeUndefined();
      await pages.minutes(1.2);
      expect(wordsOf(told())).toBe('The payment request was expired');
    }
    expect(isSent()).toBe(false);
  });

  test('not by its time once the signature is on its way', async () => {
    vault.shows = 'open';
    const { told, window } = await ask();
    await window.press('approve');
    await window.awaitsBlock();
    await pages.minutes(5);
    expect(told()).toBeUndefined();
    vault.shows = undefined;
    await window.shows('done');
    expect(told()).toMatchObject({ details: { account: person.account } });
  });

  test('where the browser opens no window', async () => {
    const { told } = await ask({ opens: false });
    expect(wordsOf(told())).toBe('The payment request was not shown');
  });
});

describe('the window', () => {
  test('that is loaded again has its request still', async () => {
    const { told, window, query } = await ask();
    await window.shows('review');
    window.close();
    const again = pages.open(person.device, worker.lineTo(query));
    await again.press('approve');
    await again.shows('done');
    expect(told()).toMatchObject({ details: { account: person.account } });
  });

  test('that is loaded again on the way goes on where it was', async () => {
    vault.shows = 'open';
    const { told, window, query } = await ask();
    await window.press('approve');
    await window.awaitsBlock();
    window.close();
    vault.shows = undefined;
    await pages.open(person.device, worker.lineTo(query)).shows('done');
    expect(told()).toMatchObject({ details: { account: person.account } });
    expect(vault.sent).toHaveLength(1);
  });

  test('is the only one that has it: neither a second one nor another page of the origin can answer', async () => {
    const { told, window, query } = await ask();
    await window.shows('review');
    for (const path of ['/pay/', '/account', '/pay/confirm']) {
      const heard: unknown[] = [];
      const { serviceWorker } = worker.lineTo(query, path);
      const { controller, addEventListener } = serviceWorker as unknown as ServiceWorkerContainer & EventTarget;
      addEventListener('message', (event) => void heard.push((event as MessageEvent).data));
      const key = query.replace('request=', '');
      for (const type of ['ready', 'commit', 'answer', 'cancel']) controller?.postMessage({ type, key, details: {} });
      await pages.time.settle();
      // Only a window of the page itself is heard, and told that there is nothing.
      const gone = Array(4).fill({ type: 'gone', key });
      expect([path, heard]).toEqual([path, path === '/pay/confirm' ? gone : []]);
    }
    const second = pages.open(person.device, worker.lineTo(query));
    expect(await second.shows('problem')).toContain('There is nothing to pay here');
    expect(told()).toBeUndefined();
    await window.press('approve');
    await window.shows('done');
    expect(told()).toMatchObject({ details: { account: person.account } });
  });

  test('with the key of no request has nothing to pay', async () => {
    for (const query of ['request=guessed', 'request=', ''])
      expect(await pages.open(person.device, worker.lineTo(query)).shows('problem')).toContain('nothing to pay here');
  });
});

describe('the browser ends the worker', () => {
  test('before approval: nothing is sent', async () => {
    const { window } = await ask();
    await window.shows('review');
    worker.end();
    await window.press('approve');
    expect(await window.shows('problem')).toContain('The request has expired. Nothing was paid.');
    expect(isSent()).toBe(false);
  });

  test('once the payment was sent: the page still says how it ends, also when it is loaded again', async () => {
    vault.shows = 'open';
    const { window, query } = await ask();
    await window.press('approve');
    await window.awaitsBlock();
    worker.end();
    vault.shows = 'paid';
    await window.shows('done');
    window.close();
    const again = pages.open(person.device, worker.lineTo(query));
    expect(await again.shows('done')).toContain('The shop can ask for it again');
    expect(vault.sent).toHaveLength(1);
  });
});

test('a link that names the worker’s mode by a popup’s origin is none of its', async () => {
  const line = worker.lineTo(`mode=popup&origin=${encodeURIComponent(SHOP)}`);
  expect(await pages.open(person.device, line).shows('problem')).toContain('There is nothing to pay here');
});
