import { afterAll, expect, test } from 'bun:test';
import { callUpstream } from '../../../lib/base/http-client.ts';
import { FAULTS, type Fault } from '../../../scripts/dev-stack/fault.ts';
import { RESEND_API_KEY, startResend } from '../../../scripts/dev-stack/resend.ts';
import { testClock } from '../../support/clock.ts';

const resend = await startResend();
const mail = { from: 'Vault <vault@example.com>', to: ['alice@example.com'], subject: 'Your code', text: '012345' };

afterAll(() => resend.stop());

function post(body: unknown, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${RESEND_API_KEY}`;
  return fetch(`${resend.url}/emails`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    redirect: 'manual',
  });
}

test('a mail is handed over and answered with its id', async () => {
  const answer = (await (await post(mail)).json()) as { id: string };
  expect(await resend.waitFor('alice@example.com')).toMatchObject({ ...mail, id: answer.id });
});

test('a repeated idempotency key hands nothing over again', async () => {
  const before = resend.messages.length;
  const ids = [await post(mail, { 'idempotency-key': 'k' }), await post(mail, { 'idempotency-key': 'k' })];
  const [first, second] = (await Promise.all(ids.map((answer) => answer.json()))) as { id: string }[];
  expect(second).toEqual(first as { id: string });
  expect(resend.messages.length).toBe(before + 1);
});

test('missing key, wrong key, missing field, bad address and a forced error answer the documented errors', async () => {
  const nameOf = async (answer: Response) => [answer.status, ((await answer.json()) as { name: string }).name];
  expect(await nameOf(await post(mail, { authorization: '' }))).toEqual([401, 'missing_api_key']);
  expect(await nameOf(await post(mail, { authorization: 'Bearer other' }))).toEqual([403, 'invalid_api_key']);
  expect(await nameOf(await post({ ...mail, subject: '' }))).toEqual([422, 'missing_required_field']);
  expect(await nameOf(await post({ ...mail, to: 'nobody' }))).toEqual([422, 'validation_error']);
  resend.faults.send = 'rate_limit_exceeded';
  expect(await nameOf(await post(mail))).toEqual([429, 'rate_limit_exceeded']);
  resend.faults.send = undefined;
});

test('every general fault looks to a client as it should', async () => {
  const outcomes: Record<Fault, unknown> = {
    silence: 'timeout',
    garbage: { status: 200, text: '{"status": "approved' },
    empty: { status: 200, text: '' },
    endless: 'oversize',
    redirect: 'redirect',
    'error-page': { status: 502, text: expect.stringContaining('<html>') },
  };
  for (const fault of FAULTS) {
    resend.faults.send = fault;
    const clock = testClock();
    const before = resend.requests.send;
    const limits = { timeoutMs: 1_000, maxBytes: 100_000 };
    const call = callUpstream({ fetch, clock }, { url: `${resend.url}/emails`, method: 'POST' }, limits);
    const outcome = call.catch(({ fault }) => fault);
    while (resend.requests.send === before) await Bun.sleep(1);
    if (fault === 'silence') await clock.advance(1_000);
    expect(await outcome).toEqual(outcomes[fault]);
  }
  resend.faults.send = undefined;
});
