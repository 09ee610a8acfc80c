import { expect, test } from 'bun:test';
import type { LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { createSmsProvider } from '../../../lib/delivery/sms.ts';
import { BRAND, wordsOf } from '../../support/brand.ts';
import { testClock } from '../../support/clock.ts';
import { tally } from '../../support/tally.ts';

const account = {
  twilioAccountSid: 'AC1',
  twilioAuthToken: 'token',
  twilioVerifyServiceSid: 'VA1',
  twilioApiUrl: 'http://127.0.0.1:9',
};

function open(config: Partial<typeof account> & { smsProvider: 'log' | 'none' | 'twilio' }) {
  const entries: LogEntry[] = [];
  const metrics = createMetrics();
  const log = (entry: LogEntry) => void entries.push(entry);
  const unset = { twilioAccountSid: undefined, twilioAuthToken: undefined, twilioVerifyServiceSid: undefined };
  const own = { baseUrl: 'https://vault.example.com', credentialTtlSeconds: 86_400 };
  const settings = { ...unset, twilioApiUrl: account.twilioApiUrl, ...own, ...config };
  return {
    entries,
    metrics,
    sms: createSmsProvider({
      config: settings,
      fetch,
      clock: testClock(),
      random: systemRandom,
      log,
      metrics,
      brandOf: () => BRAND,
      wordsOf,
    }),
  };
}

test('the log provider carries the code that the vault keeps, and prints it', async () => {
  const { sms, entries, metrics } = open({ smsProvider: 'log' });
  if (sms.kind !== 'own') throw new Error('the log provider keeps no codes');
  await sms.send({ to: '+15005550006', app: 'default', language: 'en', code: '042137', lifetimeSeconds: 90 });
  expect(entries).toEqual([{ level: 'info', event: 'code', channel: 'sms', to: '+15005550006', code: '042137' }]);
  expect(tally(metrics, 'vault_messages_total')).toEqual(['{channel="sms",provider="log",outcome="accepted"} 1']);
});

test('none sends nothing, and says so', () => {
  expect(open({ smsProvider: 'none' }).sms).toEqual({ kind: 'none' });
});

test('Twilio keeps its codes itself', () => {
  expect(open({ smsProvider: 'twilio', ...account }).sms.kind).toBe('verify');
});

test.each(['twilioAccountSid', 'twilioAuthToken', 'twilioVerifyServiceSid'] as const)(
  'Twilio without %s is a fault at the start',
  (missing) => {
    const { [missing]: _, ...rest } = account;
    expect(() => open({ smsProvider: 'twilio', ...rest })).toThrow('SMS_PROVIDER=twilio needs');
  },
);
