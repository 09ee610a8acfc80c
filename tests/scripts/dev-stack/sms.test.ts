import { afterAll, beforeEach, expect, test } from 'bun:test';
import { SMS_ACCOUNT, startSmsProvider } from '../../../scripts/dev-stack/sms.ts';
import { testClock } from '../../support/clock.ts';
import { otherCode } from '../../support/digits.ts';
import { settled } from '../../support/settled.ts';

const clock = testClock();
const sms = await startSmsProvider({ clock });
const { accountSid, authToken, services } = SMS_ACCOUNT;
let phone = '';
let phones = 0;

beforeEach(() => {
  phone = `+1555010${String(phones++).padStart(4, '0')}`;
});

afterAll(() => sms.stop());

type Purpose = keyof typeof services;

async function call(
  resource: string,
  form: Record<string, string>,
  { password = authToken, purpose = 'registration' as Purpose } = {},
) {
  const response = await fetch(`${sms.url}/v2/Services/${services[purpose]}/${resource}`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${accountSid}:${password}`)}` },
    body: new URLSearchParams(form),
  });
  const { code, status, valid } = (await response.json()) as { code?: number; status?: string; valid?: boolean };
  return [response.status, code ?? status, valid];
}

const send = (purpose?: Purpose) => call('Verifications', { To: phone, Channel: 'sms' }, { purpose });
const check = (code: string, purpose?: Purpose) => call('VerificationCheck', { To: phone, Code: code }, { purpose });

test('a sent code is approved once', async () => {
  expect(await send()).toEqual([201, 'pending', false]);
  const code = sms.codeFor(phone) ?? '';
  expect((await sms.waitFor(phone)).text).toContain(code);
  expect(await check(code)).toEqual([200, 'approved', true]);
  expect(await check(code)).toEqual([404, 20404, undefined]);
});

test('a wrong code stays pending, the sixth check is refused', async () => {
  await send();
  const wrong = otherCode(sms.codeFor(phone));
  for (let i = 0; i < 5; i++) expect(await check(wrong)).toEqual([200, 'pending', false]);
  expect(await check(wrong)).toEqual([429, 60202, undefined]);
});

test('five sends repeat the code, the sixth is refused until ten minutes have passed', async () => {
  await send();
  const code = sms.codeFor(phone);
  for (let i = 0; i < 4; i++) await send();
  expect(sms.codeFor(phone)).toBe(code);
  expect(await send()).toEqual([429, 60203, undefined]);
  await clock.advance(600_000);
  expect(sms.codeFor(phone)).toBeUndefined();
  expect(await check('123456')).toEqual([404, 20404, undefined]);
  expect(await send()).toEqual([201, 'pending', false]);
});

test('a verification belongs to its service: another one has a code of its own, and does not know this one', async () => {
  await send();
  await send('recovery');
  const [code = '', other = ''] = [sms.codeFor(phone), sms.codeFor(phone, 'recovery')];
  expect(await check(code, 'credential')).toEqual([404, 20404, undefined]);
  expect(await check(code)).toEqual([200, 'approved', true]);
  expect(await check(other, 'recovery')).toEqual([200, 'approved', true]);
});

test('a bad number, bad credentials, an unknown service and forced faults answer the documented errors', async () => {
  expect(await call('Verifications', { To: '12345', Channel: 'sms' })).toEqual([400, 60200, undefined]);
  expect(await call('Verifications', { To: phone, Channel: 'sms' }, { password: 'wrong' })).toEqual([
    401,
    20003,
    undefined,
  ]);
  expect(await call('Elsewhere', {})).toEqual([404, 20404, undefined]);
  sms.faults.send = 20500;
  expect(await send()).toEqual([500, 20500, undefined]);
  sms.faults.send = 'garbage';
  expect(await settled(send())).toThrow();
  sms.faults.send = undefined;
});

test('a service is described to its account alone, as vault doctor asks', async () => {
  const ask = async (service: string, password = authToken) => {
    const headers = { authorization: `Basic ${btoa(`${accountSid}:${password}`)}` };
    const response = await fetch(`${sms.url}/v2/Services/${service}`, { headers });
    return [response.status, ((await response.json()) as { sid?: string }).sid];
  };
  for (const service of Object.values(services)) expect(await ask(service)).toEqual([200, service]);
  expect(await ask(services.registration, 'wrong')).toEqual([401, undefined]);
  expect(await ask(`VA${'0'.repeat(32)}`)).toEqual([404, undefined]);
});
