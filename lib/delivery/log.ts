/**
 * The providers that print codes instead of sending them: the one place that may, and the settings refuse it on
 * public hosts.
 */
import { measureDelivery } from './measure.ts';
import type { CodeMail, DeliveryContext, DeliveryProvider, OwnSms } from './provider.ts';

/** Prints the codes of mails. */
export const emailLog = {
  name: 'log',
  needs: [],
  prints: true,
  remedy: '',
  create:
    ({ log }: DeliveryContext<unknown>) =>
    async ({ to, code }: CodeMail): Promise<void> =>
      log({ level: 'info', event: 'code', channel: 'email', to, code }),
} as const satisfies DeliveryProvider;

const HOW = { channel: 'sms', provider: 'log', failure: 'sms_send_failed' } as const;

/** Prints the codes of text messages. */
export const smsLog = {
  name: 'log',
  needs: [],
  prints: true,
  remedy: '',
  create: (outside: DeliveryContext<unknown>): OwnSms => ({
    kind: 'own',
    send: ({ to, code }) =>
      measureDelivery(outside, HOW, async () =>
        outside.log({ level: 'info', event: 'code', channel: 'sms', to, code }),
      ),
  }),
} as const satisfies DeliveryProvider;
