import { expect, test } from 'bun:test';
import { createInflight } from '../../../commands/serve/inflight.ts';
import { settled } from '../../support/settled.ts';

const request = new Request('http://localhost/');
const late = () => new Response('late', { status: 503 });

test('an answer passes through, and so does a failure', async () => {
  const inflight = createInflight();
  expect(await (await inflight.track(request, Promise.resolve(new Response('x')))).text()).toBe('x');
  expect(await settled(inflight.track(request, Promise.reject(new Error('broken'))))).toThrow('broken');
});

test('settling waits for what is under way', async () => {
  const inflight = createInflight();
  const slow = Promise.withResolvers<Response>();
  const answer = inflight.track(request, slow.promise);
  const settled = inflight.settle(60_000, late);
  slow.resolve(new Response('in time'));
  expect(await (await answer).text()).toBe('in time');
  await settled;
});

test('at the deadline whoever still waits is answered', async () => {
  const inflight = createInflight();
  const answer = inflight.track(request, new Promise(() => {}));
  await inflight.settle(1, late);
  expect((await answer).status).toBe(503);
});

test('with nothing under way there is nothing to wait for', async () => {
  await createInflight().settle(60_000, late);
});

test('once connections end, each answer says so, the late ones too, whatever its headers allow', async () => {
  const inflight = createInflight();
  const slow = inflight.track(request, new Promise(() => {}));
  inflight.endConnections();
  const fixed = new Response('fixed', { status: 201, headers: { 'x-own': 'kept' } });
  fixed.headers.set = () => {
    throw new TypeError('immutable');
  };
  const answers = [inflight.track(request, Promise.resolve(fixed)), slow];
  await inflight.settle(1, late);
  const [first, second] = await Promise.all(answers);
  expect([first?.status, first?.headers.get('x-own'), await first?.text()]).toEqual([201, 'kept', 'fixed']);
  for (const answer of [first, second]) expect(answer?.headers.get('connection')).toBe('close');
});

test('after the deadline what still comes is answered at once', async () => {
  const inflight = createInflight();
  inflight.track(request, new Promise(() => {}));
  await inflight.settle(1, late);
  const answer = await inflight.track(request, new Promise(() => {}));
  expect(answer.status).toBe(503);
});
