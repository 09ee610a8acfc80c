import { afterEach, beforeEach, describe, expect, setSystemTime, test } from 'bun:test';
import { IDBFactory } from 'fake-indexeddb';
import { addPayment, addVersion, type StoredPayment } from '../../../assets/pay/store.ts';
import { createSearch, type Look, watch } from '../../../assets/pay/watch.ts';
import type { Outcome } from '../../../assets/wallet/judge.ts';
import type { Operation } from '../../../client/wallet/operation.ts';
import { paymentRecord } from '../../support/payment-record.ts';

const HASH = `0x${'0a'.repeat(32)}` as const;
const real = { fetch: globalThis.fetch, setTimeout: globalThis.setTimeout };
/** What the vault answers to `/pay/outcome`, in turn; the last one for good. A number is a status of failure. */
let outcomes: (Outcome | number)[];
/** The queries of `/pay/outcome`. */
let asked: URLSearchParams[];
/** When an operation was sent to the bundler, by the page's clock. */
let sentAt: number[];

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
  [asked, sentAt] = [[], []];
  // Between two looks no time has to pass.
  globalThis.setTimeout = ((act: () => void) => real.setTimeout(act)) as typeof setTimeout;
  globalThis.fetch = (async (path: string) => {
    if (path.startsWith('/api/bundler')) {
      sentAt.push(Date.now());
      return Response.json({ result: '0x' });
    }
    if (path.startsWith('/pay/fees')) return Response.json({ block: 500 });
    asked.push(new URLSearchParams(path.split('?')[1]));
    const next = outcomes.length > 1 ? outcomes.shift() : outcomes[0];
    return typeof next === 'number' ? new Response('{}', { status: next }) : Response.json(next);
  }) as typeof fetch;
});
afterEach(() => {
  Object.assign(globalThis, real);
  setSystemTime();
});

const payment = paymentRecord({
  state: 'unconfirmed',
  since: 400,
  versions: [{ kind: 'pay', userOpHash: HASH, validUntil: 1_000, operation: {} as Operation }],
  answer: { is: 'taken', words: '', aa: '' },
});
const open = (more: Partial<Outcome> = {}): Outcome => ({
  chainId: 84532,
  entryPoint: '0xEE',
  head: { number: 500, time: 900 },
  final: { number: 490, time: 880 },
  spent: false,
  spentFinal: false,
  next: 491,
  operation: null,
  ...more,
});
const paid = (final: boolean): Outcome =>
  open({
    spent: true,
    operation: { userOpHash: HASH, txHash: `0x${'0b'.repeat(32)}`, block: 495, success: true, moved: true, final },
  });
const ended = open({ head: { number: 600, time: 1_020 }, final: { number: 590, time: 1_001 } });

describe('a payment that is watched', () => {
  test('is paid by a block, and asked about its own terms', async () => {
    outcomes = [open(), paid(false)];
    const looks: Look[] = [];
    const record = await watch(await addPayment(payment), (look) => looks.push(look));
    expect(record).toMatchObject({ state: 'paid', paid: { userOpHash: HASH, block: 495, final: false } });
    expect(looks.map(({ verdict }) => verdict)).toEqual([{ is: 'open', sign: 'none' }]);
    expect(Object.fromEntries(asked[0] ?? [])).toEqual({
      account: '0xaa',
      nonce: '0x10',
      since: '400',
      to: '0xb0b',
      token: 'native',
      amount: '5',
      hint: HASH,
    });
  });

  test('that was paid in a block that is taken back is not confirmed, is sent again, and can end unpaid', async () => {
    outcomes = [paid(false)];
    const first = await watch(await addPayment(payment), () => undefined);
    expect(first.state).toBe('paid');
    outcomes = [open(), ended];
    const { answer: _, ...forgotten } = first;
    const states: string[] = [];
    const last = await watch(forgotten, ({ record }) => states.push(record.state));
    expect(last).toMatchObject({ state: 'ended', why: 'ended', paid: undefined });
    expect(sentAt).toHaveLength(1);
  });

  test('that stays open is sent again once 30 seconds have passed, and again after 30 more', async () => {
    outcomes = [...Array.from({ length: 36 }, () => open()), ended];
    const start = Date.now();
    setSystemTime(start);
    globalThis.setTimeout = ((act: () => void, ms = 0) => {
      setSystemTime(Date.now() + ms);
      return real.setTimeout(act);
    }) as typeof setTimeout;
    await watch(await addPayment(payment), () => undefined);
    // It is looked for each second, then each two, and each five after a minute.
    expect(sentAt.map((time) => time - start)).toEqual([31_000, 66_000]);
  });

  test('that is paid and final is asked about no more', async () => {
    outcomes = [paid(true)];
    const first = await watch(await addPayment(payment), () => undefined);
    const count = asked.length;
    expect(await watch(first, () => undefined)).toMatchObject({ state: 'paid', paid: { final: true } });
    expect(asked).toHaveLength(count);
  });

  test('is open while the vault fails or disagrees with itself', async () => {
    outcomes = [502, 429, 400, ended];
    const verdicts: unknown[] = [];
    const record = await watch(await addPayment(payment), ({ verdict }) => verdicts.push(verdict));
    expect([record.state, verdicts]).toEqual(['ended', [undefined, undefined, undefined]]);
  });

  test('is judged with the version that another tab has signed since', async () => {
    const first = await addPayment(payment);
    await addVersion(first, { ...payment.versions[0], validUntil: 5_000 } as StoredPayment['versions'][0]);
    outcomes = [ended, paid(true)];
    expect(await watch(first, () => undefined)).toMatchObject({ state: 'paid' });
  });
});

describe('the search for its operation', () => {
  const spent = (next: number) => open({ spent: true, next });
  const since = async (answers: Outcome[], start: number | undefined) => {
    outcomes = [...answers];
    const search = createSearch({ ...payment, since: start });
    for (const _ of answers) await search({ ...payment, since: start });
    return asked.map((query) => Number(query.get('since')));
  };

  test('goes on where it was, and further back once it came to the newest blocks in vain', async () => {
    expect(await since([spent(420), spent(430), spent(480), spent(460), spent(470)], 410)).toEqual([
      410, 420, 430, 0, 0,
    ]);
  });

  test('starts at the newest block where the record does not say', async () => {
    expect((await since([spent(501), open()], undefined))[0]).toBe(500);
  });

  test('stays at the block in which it was found, until that is final', async () => {
    expect(await since([paid(false), paid(false), paid(true)], 410)).toEqual([410, 495, 495]);
  });
});
