import { expect, test } from 'bun:test';
import { sleep } from '../../lib/base/clock.ts';
import { testClock } from './clock.ts';

test('time stands still until it is moved, and runs what falls due in order', async () => {
  const clock = testClock(1000);
  const seen: string[] = [];
  clock.after(20, () => seen.push(`second at ${clock.now()}`));
  clock.after(10, () => seen.push(`first at ${clock.now()}`));
  clock.after(31, () => seen.push('too early'));
  const cancel = clock.after(5, () => seen.push('cancelled'));
  cancel();
  await clock.advance(30);
  expect(seen).toEqual(['first at 1010', 'second at 1020']);
  expect(clock.now()).toBe(1030);
});

test('a timer set by a timer runs within the same advance', async () => {
  const clock = testClock(0);
  const seen: number[] = [];
  const beat = () => {
    seen.push(clock.now());
    clock.after(10, beat);
  };
  clock.after(10, beat);
  await clock.advance(35);
  expect(seen).toEqual([10, 20, 30]);
});

test('what waits for no time needs no advance', async () => {
  const clock = testClock();
  await sleep(clock, 0);
});

test('answers over loopback arrive within an advance', async () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('pong') });
  // The first request of a process starts Bun's HTTP thread.
  await fetch(server.url);
  const clock = testClock();
  let answer = '';
  clock.after(10, async () => {
    answer = await (await fetch(server.url)).text();
    clock.after(10, () => {
      answer += ' later';
    });
  });
  await clock.advance(10);
  // A busy machine may take longer than an advance waits.
  for (let n = 0; n < 500 && answer === ''; n++) await clock.advance(0);
  expect(answer).toStartWith('pong');
  await server.stop(true);
});
