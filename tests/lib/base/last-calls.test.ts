import { expect, test } from 'bun:test';
import { createLastCalls } from '../../../lib/base/last-calls.ts';

test('the newest success and the newest failure are kept, with the nearest cause', () => {
  const calls = createLastCalls();
  expect(calls.read()).toEqual({});
  calls.record('email', 1);
  calls.record('email', 2, new Error('email_send_failed', { cause: new Error('SMTP: no connection (ECONNREFUSED)') }));
  calls.record('email', 3);
  calls.record('rpc', 4, new Error('unreachable'));
  expect(calls.read()).toEqual({
    email: { okAt: 3, failedAt: 2, fault: 'SMTP: no connection (ECONNREFUSED)' },
    rpc: { okAt: null, failedAt: 4, fault: 'unreachable' },
  });
});

test('a fault shows no address and no number, and is short', () => {
  const calls = createLastCalls();
  calls.record('email', 1, new Error(`no <ada@example.com> here, call +491711234567 ${'x'.repeat(500)}`));
  const { fault } = calls.read()['email'] ?? {};
  expect(fault).toStartWith('no … here, call … x');
  expect(fault).toHaveLength(200);
});
