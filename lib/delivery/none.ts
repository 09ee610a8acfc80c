import { measureDelivery } from './measure.ts';
import type { CheckResult, DeliveryContext, DeliveryProvider, OwnSms } from './provider.ts';

const HOW = { channel: 'sms', provider: 'none', failure: 'sms_send_failed' } as const;

/** Sends nothing: for a vault that proves addresses of mail only. */
export const noSms = {
  name: 'none',
  needs: [],
  remedy: '',
  create: (outside: DeliveryContext<unknown>): OwnSms => ({
    kind: 'own',
    send: () => measureDelivery(outside, HOW, () => Promise.reject(new Error('SMS_PROVIDER is none'))),
  }),
  check: async (): Promise<readonly CheckResult[]> => [{ state: 'ok', text: 'off: no SMS are sent' }],
} as const satisfies DeliveryProvider;
