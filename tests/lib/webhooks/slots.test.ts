import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { type AttemptResult, WEBHOOK_TIMEOUT_MS } from '../../../lib/webhooks/post.ts';
import { createSlots, WEBHOOK_SLOTS } from '../../../lib/webhooks/slots.ts';
import { WEBHOOK_LEASE_MS } from '../../../lib/webhooks/store.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type Receiver, startReceiver, WEBHOOK_SECRET } from '../../support/receiver.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

/** How long each call of background work goes on: a host calls it every second. */
const TURN_MS = 1_000;

let receiver: Receiver;
let clock: TestClock;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  receiver = startReceiver();
  clock = testClock();
  ends.push(() => receiver.stop());
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(dir?: string): Promise<TestVault> {
  const vars = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' };
  const t = await startVault(vars, { clock, ...(dir === undefined ? {} : { dir }) });
  ends.push(() => t.stop());
  await t.work();
  return t;
}

async function tell(t: TestVault, count: number, data = '{}'): Promise<void> {
  await t.database.execute({
    sql: `INSERT INTO events (app, channel, type, at, data) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
      SELECT 'default', 'audit', 'token.revoked', :at, :data FROM n`,
    args: { data, at: BigInt(clock.now()), count: BigInt(count) },
  });
}

const countOf = async (t: TestVault, condition: string) =>
  Number((await t.rows(`SELECT count(*) AS n FROM webhook_deliveries WHERE ${condition}`))[0]?.['n']);
const delivered = (t: TestVault) => countOf(t, `status = 'delivered'`);

/** Seconds pass, each with a call of background work, as on a host. */
async function pass(seconds: number, ...vaults: readonly TestVault[]): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    for (const { vault } of vaults) void vault.work(clock.now() + TURN_MS);
    await clock.advance(TURN_MS);
  }
}

/** Up to so many seconds pass, until it is so. */
async function pace(seconds: number, vault: TestVault, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let second = 0; second < seconds && !(await isSo()); second++) await pass(1, vault);
}

/** Requests that are not answered until a test ends them. */
function hanging() {
  const held = new Set<() => void>();
  return {
    held,
    hold: (request: Request) =>
      new Promise<Response>((resolve) => {
        const end = () => {
          held.delete(end);
          resolve(new Response(null, { status: 204 }));
        };
        held.add(end);
        request.signal.addEventListener('abort', end);
      }),
  };
}

describe('a receiver that hangs on one request in ten', () => {
  test('gets 300 events before the first attempt times out, and has taken all of them within 15 s', async () => {
    const t = await start();
    const { hold } = hanging();
    const seen = new Set<string>();
    receiver.answer = ({ id, body }, request) => {
      const isFirst = !seen.has(id);
      seen.add(id);
      return isFirst && body.id % 10 === 0 ? hold(request) : new Response(null, { status: 204 });
    };
    await tell(t, 300);
    const begun = clock.now();
    void t.vault.work(begun + 60_000);
    // No time passes here: no attempt can end by its timeout.
    await t.idle();
    expect([await delivered(t), receiver.received.length, seen.size]).toEqual([270, 300, 300]);
    // It is tried again at once: the pause counts from the start of the attempt that hung.
    await pass(10, t);
    expect(await countOf(t, 'attempts = 0')).toBe(0);
    await pace(5, t, async () => (await delivered(t)) === 300);
    expect([await delivered(t), clock.now() - begun <= 15_000]).toEqual([300, true]);
    expect(await countOf(t, 'attempts = 2')).toBe(30);
  });
});

describe('a receiver that hangs on all', () => {
  test('holds no more than 32 requests at once', async () => {
    const t = await start();
    const { held, hold } = hanging();
    let most = 0;
    receiver.answer = (_, request) => {
      const answer = hold(request);
      most = Math.max(most, held.size);
      return answer;
    };
    await tell(t, 200);
    void t.vault.work(clock.now() + TURN_MS);
    await t.idle();
    expect(receiver.received).toHaveLength(WEBHOOK_SLOTS);
    for (let second = 0; second < 300 && receiver.received.length <= 3 * WEBHOOK_SLOTS; second++) await pass(1, t);
    expect(receiver.received.length).toBeGreaterThan(3 * WEBHOOK_SLOTS);
    // One whose time is over may reach the receiver's end a moment after the next has begun.
    expect(most).toBeLessThanOrEqual(2 * WEBHOOK_SLOTS);
    expect(await countOf(t, 'next_attempt_at IS NOT NULL')).toBe(200);
  });
});

describe('a receiver that hung for a moment, and takes 3 s for each from then on', () => {
  test('is found to answer, and from then on gets none twice', async () => {
    const t = await start();
    const { hold } = hanging();
    let isSlow = false;
    const sent = new Map<string, number>();
    receiver.answer = ({ id }, request) => {
      if (!isSlow) return hold(request);
      sent.set(id, (sent.get(id) ?? 0) + 1);
      return new Promise((resolve) => {
        clock.after(3_000, () => resolve(new Response(null, { status: 204 })));
      });
    };
    await tell(t, 200);
    void t.vault.work(clock.now() + TURN_MS);
    await t.idle();
    expect(receiver.received).toHaveLength(WEBHOOK_SLOTS);
    await pass(12, t);
    isSlow = true;
    for (let seconds = 0; seconds < 600 && (await delivered(t)) < 200; seconds += 10) await pass(10, t);
    expect(await delivered(t)).toBe(200);
    const again = [...sent.values()].reduce((sum, times) => sum + times - 1, 0);
    // The attempt with the whole wait ends in 10 s, and the next is answered in 3 s: meanwhile the others wait for 2 s.
    expect(again).toBeLessThanOrEqual((13 / 2) * WEBHOOK_SLOTS);
  });
});

describe('how long the receiver is waited for', () => {
  const hung = { ok: false, status: null, error: 'timeout' } as const;
  const refused = { ok: false, status: 500, error: 'status' } as const;
  const away = { ok: false, status: null, error: 'unreachable' } as const;

  /** Slots, and the wait that each post is given; a post ends when the test says. */
  function patience() {
    const { patiently } = createSlots(clock);
    /** An attempt that goes on until its end is called. */
    const begin = () => {
      const { promise, resolve } = Promise.withResolvers<AttemptResult>();
      let wait = 0;
      const attempt = patiently((timeoutMs) => {
        wait = timeoutMs;
        return promise;
      });
      const end = (result: AttemptResult) => {
        resolve(result);
        return attempt;
      };
      return { wait, end };
    };
    const waits = async (...results: readonly AttemptResult[]) => {
      const given: number[] = [];
      for (const result of results) {
        const { wait, end } = begin();
        given.push(wait);
        await end(result);
      }
      return given;
    };
    return { begin, waits };
  }

  test('is 10 s, and 2 s for all but one after three that hung with no answer between', async () => {
    const { begin, waits } = patience();
    expect(await waits(hung, hung, refused, hung, hung, away, hung)).toEqual(Array(7).fill(WEBHOOK_TIMEOUT_MS));
    const [one, two, three] = [begin(), begin(), begin()];
    expect([one.wait, two.wait, three.wait]).toEqual([WEBHOOK_TIMEOUT_MS, 2_000, 2_000]);
    await two.end(hung);
    expect(begin().wait).toBe(2_000);
    await one.end(hung);
    expect([begin().wait, begin().wait]).toEqual([WEBHOOK_TIMEOUT_MS, 2_000]);
    await three.end(away);
    expect(begin().wait).toBe(2_000);
  });

  test('is 10 s again once it answers, whatever it answers', async () => {
    for (const answer of [refused, { ok: true, status: 204 } as const]) {
      const { begin, waits } = patience();
      await waits(hung, hung, hung);
      const [one, two] = [begin(), begin()];
      expect(two.wait).toBe(2_000);
      await one.end(answer);
      expect([begin().wait, begin().wait]).toEqual([WEBHOOK_TIMEOUT_MS, WEBHOOK_TIMEOUT_MS]);
    }
  });

  test('is 10 s after an answer, whatever ends after 2 s that began before it', async () => {
    const { begin, waits } = patience();
    await waits(hung, hung, hung);
    const [whole, ...shorts] = [begin(), begin(), begin(), begin()];
    expect(shorts.map(({ wait }) => wait)).toEqual([2_000, 2_000, 2_000]);
    await whole.end({ ok: true, status: 204 });
    for (const { end } of shorts) await end(hung);
    expect([begin().wait, begin().wait]).toEqual([WEBHOOK_TIMEOUT_MS, WEBHOOK_TIMEOUT_MS]);
  });
});

describe('the process that delivers', () => {
  test('keeps its lease while attempts hang, and new events reach the free slots', async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const t = await start(folder.path);
    const other = await start(folder.path);
    const { hold } = hanging();
    // The test's clock may run ahead of the network: then one is sent again.
    const answered = new Set<string>();
    receiver.answer = ({ id, body }, request) => {
      if (body.data.hangs === 1) return hold(request);
      answered.add(id);
      return new Response(null, { status: 204 });
    };
    const owners = new Set<unknown>();
    let told = 0;
    while (clock.now() < Date.UTC(2025, 0, 1) + 1.5 * WEBHOOK_LEASE_MS) {
      // Fewer hang than there are slots: with more, chance could have all of them tried at once.
      if (told % 2 === 0) await tell(t, 1, '{"hangs":1}');
      await tell(t, 1);
      told++;
      await pass(1, other);
      // Sooner than those that hang end.
      await pace(5, t, () => answered.size === told);
      expect(answered.size).toBe(told);
      const [lease] = await t.rows(`SELECT owner, until FROM leases WHERE name = 'webhooks'`);
      owners.add(lease?.['owner']);
      expect(Number(lease?.['until'])).toBeGreaterThan(clock.now());
    }
    expect(owners.size).toBe(1);
    expect(told).toBeGreaterThan(5);
    expect(told / 2).toBeLessThan(WEBHOOK_SLOTS);
  });

  test('and is stopped leaves what is under way to itself: another process does not send it beside', async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const vars = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' };
    const first = await startVault(vars, { clock, dir: folder.path });
    await first.work();
    const { held, hold } = hanging();
    receiver.answer = (_, request) => hold(request);
    await tell(first, 5);
    void first.vault.work(clock.now() + TURN_MS);
    await first.idle();
    expect(held.size).toBe(5);
    // It gives its lease back and does not wait for them.
    await first.vault.close();
    const second = await start(folder.path);
    receiver.answer = () => new Response(null, { status: 204 });
    await tell(second, 1);
    await second.work();
    expect(receiver.received.map(({ body }) => body.id)).toEqual([1, 2, 3, 4, 5, expect.any(Number)]);
    // The claims end with the attempts: none is lost.
    await clock.advance(WEBHOOK_TIMEOUT_MS);
    await clock.advance(WEBHOOK_LEASE_MS);
    await second.work();
    expect(await delivered(second)).toBe(await countOf(second, 'true'));
    await first.stop();
  });
});
