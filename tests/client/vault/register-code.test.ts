import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { CodeAnswer, CodeRequest } from '../../../client/vault/index.ts';
import { faultOf, newPerson, notAsked } from '../../support/client-person.ts';
import { broken, type ClientWorld, startClientWorld } from '../../support/client-world.ts';
import { until } from '../../support/until.ts';

let world: ClientWorld;
beforeAll(async () => {
  world = await startClientWorld({ RATE_LIMIT_CODES_PER_IDENTIFIER: '3' });
});
afterAll(() => world.stop());

const pathOf = ({ url }: Request) => new URL(url).pathname;

test('another code that cannot be sent soon is no silent wait: the person hears from when on', async () => {
  const one = newPerson(world);
  const asked: CodeRequest[] = [];
  // The hour's third code is the last.
  const answers: CodeAnswer[] = ['', { resend: true }, '', { resend: true }];
  const made = await one.register({
    askCode(request) {
      asked.push(request);
      return answers.shift() ?? world.t.codeFor(one.email);
    },
  });
  expect(asked.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined, 'Too soon', 'Too soon']);
  expect((asked.at(-1)?.nextAt ?? 0) - Date.now()).toBeGreaterThan(3_000_000);
  expect(world.t.mailsTo(one.email)).toHaveLength(3);
  expect((await made.confirmed).proven).toBe(true);
});

test.each([
  ['with a dash', (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`],
  ['in full width', (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
  ['in a sentence', (code: string) => `Your code: ${code}.`],
])('a code that was typed %s is the code', async (_, typed) => {
  const one = newPerson(world);
  const problems: unknown[] = [];
  const made = await one.register({
    askCode({ problem }) {
      problems.push(problem);
      return typed(world.t.codeFor(one.email));
    },
  });
  expect([made.identifier, problems]).toEqual([one.email, [undefined]]);
});

test('a person for whom no code can be sent any more learns when one can', async () => {
  const one = newPerson(world);
  for (let i = 0; i < 3; i++) {
    await one.page().verify.send({ identifier: one.email, channel: 'email' });
  }
  const fault = await faultOf(one.register());
  expect(fault).toMatchObject({ error: 'rate_limited' });
  expect(fault.retryAfter).toBeGreaterThan(3000);
});

test('a code whose answer was lost is not sent again after a reload', async () => {
  const one = newPerson(world);
  one.line.trouble = async (request, pass) => {
    const reply = await pass();
    return pathOf(request) === '/api/verify/send' ? broken() : reply;
  };
  expect(await faultOf(one.register())).toMatchObject({ error: 'unreachable' });
  one.line.trouble = undefined;
  expect((await one.register()).identifier).toBe(one.email);
  expect(world.t.mailsTo(one.email)).toHaveLength(1);
});

test('a check that is one too many for the address is waited for, and spends nothing', async () => {
  const one = newPerson(world);
  let checks = 0;
  one.line.trouble = async (request, pass) => {
    if (pathOf(request) !== '/api/verify/check' || checks++ > 0) return pass();
    return Response.json({ error: 'rate_limited', limit: 'reads' }, { status: 429, headers: { 'retry-after': '1' } });
  };
  let asked = 0;
  await one.register({
    askCode() {
      asked++;
      return world.t.codeFor(one.email);
    },
  });
  expect([asked, checks]).toEqual([1, 2]);
});

test('a vault that takes its time is looked at ever more seldom', async () => {
  const one = newPerson(world);
  const looks = () => one.line.asked.filter((name) => name === 'GET /api/dids/lookup').length;
  one.line.trouble = async (request, pass) => {
    if (pathOf(request) === '/api/dids/lookup') return Response.json({ error: 'not_found' }, { status: 404 });
    if (pathOf(request) === '/api/dids') {
      await Bun.sleep(5000);
      await until('it is looked at three times', () => looks() > 2);
    }
    return pass();
  };
  const made = await one.register();
  expect(made.identifier).toBe(one.email);
  expect(looks()).toBeLessThan(12);
});

test('a form that is left empty is no registration', async () => {
  const one = newPerson(world);
  expect(await faultOf(one.register({ email: null as never, askCode: notAsked }))).toMatchObject({
    error: 'cancelled',
  });
  expect(await faultOf(one.register({ email: ' ' }))).toMatchObject({ error: 'cancelled' });
  expect(one.line.asked).toEqual([]);
});
